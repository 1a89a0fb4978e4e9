// The name and architecture of a model: from metadata, from the configuration beside the weights, or from the directory it was published
// as. Names of single files describe how they are stored, and are only used
// where a model must have a name.
import { decodeUtf8 } from '../bytes/index.js'
import { TareError } from '../errors/index.js'
import type { Metadata } from '../model/metadata.js'
import type { Model, ModelNames } from '../model/model.js'
import { readPayload } from '../model/payload.js'
import { findFile } from './companions.js'

/** The equivalent keys of all formats, the plain one first. */
const nameKeys = ['model_name', 'general.name'] as const
const architectureKeys = ['architecture', 'general.architecture', 'model_type', 'hf.model_type'] as const

const configFile = 'config.json'
/** Configurations are some kilobytes long; a larger file is something else. */
const maxConfig = 1 << 24

/** `stored` is the metadata of the container that carried the model, if it says more. */
export async function namesOf(model: Model, stored: Metadata = model.metadata): Promise<ModelNames> {
  const { metadata } = model
  const name = statedIn(metadata, nameKeys) ?? statedIn(stored, nameKeys) ?? folderName(model)
  const architecture = statedIn(metadata, architectureKeys) ?? statedIn(stored, architectureKeys)
  const config = name === undefined || architecture === undefined ? await readConfig(model) : undefined
  return { name: name ?? hubName(config) ?? '', architecture: architecture ?? architectureIn(config) ?? '' }
}

/** The architecture that metadata or a configuration states. */
export const statedArchitecture = (
  { metadata }: Pick<Model, 'metadata'>,
  config: Config | undefined,
): string | undefined => statedIn(metadata, architectureKeys) ?? architectureIn(config)

/** The configuration, as a file of the model or beside it. */
export async function configOf(model: Model, signal?: AbortSignal): Promise<Config | undefined> {
  try {
    return (await readConfig(model)) ?? (await readConfigBeside(model, signal))
  } catch (error) {
    if (!(error instanceof TareError) || signal?.aborted) throw error
    return undefined
  }
}

/** Which of the two may be known, without looking at the configuration. */
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

/** Hub caches name directories after the commit. */
const commitForm = /^[0-9a-f]{40}$/

/** A directory is one model if it was opened as such, or if it contains the configuration. */
function folderName({ files: [main] }: Model): string | undefined {
  const folder = main?.folder
  if (!folder || commitForm.test(folder.name)) return undefined
  return (folder.isWhole || folder.files.includes(configFile)) && folder.name !== '' ? folder.name : undefined
}

type Config = Readonly<Record<string, unknown>>

async function readConfig({ parts }: Model): Promise<Config | undefined> {
  const data = findFile(parts, configFile)?.data
  // One that cannot be read is still carried as a file.
  return data && data.byteLength <= maxConfig ? parseConfig(await readPayload(data)) : undefined
}

function parseConfig(bytes: Uint8Array): Config | undefined {
  try {
    const value: unknown = JSON.parse(decodeUtf8(bytes) ?? '')
    return typeof value === 'object' && value !== null ? (value as Config) : undefined
  } catch {
    return undefined
  }
}

/** The part after the owner of a published model's name; a local path is not a name. */
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

/** What weights are called wherever they are published: this says nothing about the model. */
const commonStem = /^(model|pytorch_model|tf_model|flax_model|weights|consolidated)([._-].*)?$/i

/**
 * What a model is called that has to have a name, and the configuration beside its weights. Unlike above, the name of the file counts, and
 * the configuration need not be part of the model.
 */
export async function publishedAs(
  model: Model,
  outputName: string,
  signal?: AbortSignal,
): Promise<{ readonly name: string; readonly config: Config | undefined }> {
  const config = await readConfigBeside(model, signal)
  const [main] = model.files
  const stem = stemOf(main?.name ?? outputName)
  const stated = config?._name_or_path
  const candidates = [main?.folder?.name, typeof stated === 'string' ? segmentsOf(stated).at(-1) : undefined]
  const isPublished = main !== undefined && (main.folder !== undefined || commonStem.test(stem))
  const name = isPublished
    ? [...candidates, directoryOf(main.name)].find((each) => each && /\w/.test(each) && !commitForm.test(each))
    : undefined
  return { name: name ?? stem, config }
}

/** Whether a configuration lies beside the weights of a published model. */
export const hasConfigBeside = ({ files: [main] }: Model): boolean =>
  main?.sibling !== undefined && (main.folder?.files.includes(configFile) ?? false)

async function readConfigBeside(model: Model, signal: AbortSignal | undefined): Promise<Config | undefined> {
  if (!hasConfigBeside(model)) return undefined
  try {
    const file = await model.files[0]!.sibling!(configFile)
    return file.size <= maxConfig ? parseConfig(await file.read(0, file.size, { signal })) : undefined
  } catch (error) {
    if (error instanceof TareError) return undefined // nothing depends on it
    throw error
  }
}

const segmentsOf = (path: string): string[] => path.split(/[/\\]/).filter((each) => each !== '')

/** The directory in a path or an address; on a hub, files lie under `resolve` and a revision. */
function directoryOf(path: string): string | undefined {
  const isAddress = /^https?:/i.test(path)
  const segments = segmentsOf(path.replace(/[?#].*$/, '')).slice(isAddress ? 2 : 0)
  const at = segments.findIndex((each) => each === 'resolve' || each === 'blob' || each === 'raw')
  return isAddress && at > 0 ? segments[at - 1] : segments.at(-2)
}

/** The name of a file without directories and without its last extension. */
const stemOf = (name: string): string =>
  name
    .split(/[/\\]/)
    .at(-1)!
    .replace(/(?<=.)\.[^.]*$/, '')
