// What a model is called and of which architecture it is, as far as it says so: in metadata, in the configuration that lies beside the
// weights, or by the directory that it was published as. Names of single files say how they are stored, and are not asked.
import { decodeUtf8 } from '../bytes/index.js'
import type { Metadata } from '../model/metadata.js'
import type { Model, ModelNames } from '../model/model.js'
import { readPayload } from '../model/payload.js'
import { findFile } from './companions.js'

/** The keys of all formats that mean the same, the plain one first. */
const nameKeys = ['model_name', 'general.name'] as const
const architectureKeys = ['architecture', 'general.architecture', 'model_type', 'hf.model_type'] as const

const configFile = 'config.json'
/** Configurations have some kilobytes; a larger one is something else. */
const maxConfig = 1 << 24

/** `stored` is the metadata of the container that carried the model, where that says more. */
export async function namesOf(model: Model, stored: Metadata = model.metadata): Promise<ModelNames> {
  const { metadata } = model
  const name = statedIn(metadata, nameKeys) ?? statedIn(stored, nameKeys) ?? folderName(model)
  const architecture = statedIn(metadata, architectureKeys) ?? statedIn(stored, architectureKeys)
  const config = name === undefined || architecture === undefined ? await readConfig(model) : undefined
  return { name: name ?? hubName(config) ?? '', architecture: architecture ?? architectureIn(config) ?? '' }
}

/** Which of the two may be known; what the configuration says is not looked at. */
export function findableNames(model: Model): readonly (keyof ModelNames)[] {
  const { metadata, parts } = model
  const hasConfig = findFile(parts, configFile)?.data !== undefined
  const hasName = hasConfig || (statedIn(metadata, nameKeys) ?? folderName(model)) !== undefined
  const hasArchitecture = hasConfig || statedIn(metadata, architectureKeys) !== undefined
  return [...(hasName ? (['name'] as const) : []), ...(hasArchitecture ? (['architecture'] as const) : [])]
}

function statedIn(metadata: Metadata, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = metadata.get(key)
    if (value?.type === 'str' && value.value !== '' && !value.bytes) return value.value
  }
  return undefined
}

/** A hub's cache calls directories by the commit that they hold. */
const commitForm = /^[0-9a-f]{40}$/

/** A directory is one model where it was opened as such, or where the configuration lies there as well. */
function folderName({ files: [main] }: Model): string | undefined {
  const folder = main?.folder
  if (!folder || commitForm.test(folder.name)) return undefined
  return (folder.isWhole || folder.files.includes(configFile)) && folder.name !== '' ? folder.name : undefined
}

type Config = Readonly<Record<string, unknown>>

async function readConfig({ parts }: Model): Promise<Config | undefined> {
  const data = findFile(parts, configFile)?.data
  if (!data || data.byteLength > maxConfig) return undefined
  const text = decodeUtf8(await readPayload(data))
  try {
    const value: unknown = JSON.parse(text ?? '')
    return typeof value === 'object' && value !== null ? (value as Config) : undefined
  } catch {
    return undefined // it is still carried as the file that it is
  }
}

/** The part behind the owner, where it is the name of a published model; a path on somebody's machine is no name. */
function hubName(config: Config | undefined): string | undefined {
  const stated = config?._name_or_path
  return typeof stated === 'string' ? /^(?:[\w-][\w.-]*\/)?([\w-][\w.-]*)$/.exec(stated)?.[1] : undefined
}

function architectureIn(config: Config | undefined): string | undefined {
  const classes = config?.architectures
  return [config?.model_type, Array.isArray(classes) ? classes[0] : undefined].find(
    (each): each is string => typeof each === 'string' && each !== '',
  )
}
