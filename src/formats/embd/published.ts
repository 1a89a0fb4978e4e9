// What a published model says about itself outside of its weights: the directory is called after it, and config.json knows how many heads it
// has, which no tensor shows.
import { decodeUtf8 } from '../../bytes/index.js'
import { TareError } from '../../errors/index.js'
import type { Model } from '../../model/index.js'

export interface Published {
  readonly name: string
  readonly heads: number | undefined
}

const configFile = 'config.json'
const largestConfig = 1 << 20
/** What weights are called wherever they are published: this says nothing about the model. */
const commonStem = /^(model|pytorch_model|tf_model|flax_model|weights|consolidated)([._-].*)?$/i
/** Caches name the directories of a model after its revisions. */
const revision = /^[0-9a-f]{40}$/

export async function readPublished(model: Model, outputName: string, signal?: AbortSignal): Promise<Published> {
  const config = await readConfig(model, signal)
  const heads = config?.num_attention_heads
  return {
    name: nameOf(model, config?._name_or_path) ?? stemOf(model.files[0]?.name ?? outputName),
    heads: typeof heads === 'number' && Number.isSafeInteger(heads) && heads > 0 ? heads : undefined,
  }
}

/** Whether a config.json lies beside the weights of a published model. */
export const hasConfig = ({ files: [main] }: Model): boolean =>
  main?.sibling !== undefined && (main.folder?.files.includes(configFile) ?? false)

async function readConfig(model: Model, signal?: AbortSignal): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (!hasConfig(model)) return undefined
  try {
    const file = await model.files[0]!.sibling!(configFile)
    const bytes = file.size <= largestConfig ? await file.read(0, file.size, { signal }) : undefined
    const config: unknown = JSON.parse((bytes && decodeUtf8(bytes)) ?? '')
    return typeof config === 'object' && config !== null ? (config as Record<string, unknown>) : undefined
  } catch (error) {
    // Somebody else's file, and nothing depends on it.
    if (error instanceof SyntaxError || error instanceof TareError) return undefined
    throw error
  }
}

/** Undefined when only the file itself has a name. */
function nameOf({ files: [main] }: Model, stated: unknown): string | undefined {
  if (!main) return undefined
  const isPublished = main.folder !== undefined || commonStem.test(stemOf(main.name))
  if (!isPublished) return undefined
  const candidates = [
    main.folder?.name,
    typeof stated === 'string' ? lastOf(stated) : undefined,
    directoryOf(main.name),
  ]
  return candidates.find((name) => name !== undefined && /\w/.test(name) && !revision.test(name))
}

const segmentsOf = (path: string): string[] => path.split(/[/\\]/).filter((each) => each !== '')

const lastOf = (path: string): string | undefined => segmentsOf(path).at(-1)

/** The directory in a path or an address; on a hub, files lie under `resolve` and a revision. */
function directoryOf(path: string): string | undefined {
  const isAddress = /^https?:/i.test(path)
  const segments = segmentsOf(path.replace(/[?#].*$/, '')).slice(isAddress ? 2 : 0)
  const at = segments.findIndex((each) => each === 'resolve' || each === 'blob' || each === 'raw')
  return isAddress && at > 0 ? segments[at - 1] : segments.at(-2)
}

/** The file's name without directories and without its last extension. */
function stemOf(name: string): string {
  const base = name.split(/[/\\]/).at(-1)!
  return base.replace(/(?<=.)\.[^.]*$/, '')
}
