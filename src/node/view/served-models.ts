// The files that the page may ask for: those of the models that were named, and nothing else. A file has an address below the number of
// its model, `files/0/model.safetensors`, so that shards are found beside their index as they are on any server.
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { type ByteSource, isPathBelow } from '../../bytes/index.js'
import { isCompanion } from '../../content/companions.js'
import { collectingReport, TareError } from '../../errors/index.js'
import { formats, type OpenOptions, recognise } from '../../formats/index.js'
import { FileSource } from '../files/file-source.js'
import { openBeside, pathFrom } from '../files-of-model.js'
import { type InputOptions, openInput } from '../input.js'
import { isRemote } from '../remote/remote-input.js'

export type ServedOptions = InputOptions & Pick<OpenOptions, 'from' | 'lenient' | 'openElsewhere' | 'signal'>

export interface ServedFile {
  /** From the directory of the model's main file, with slashes. */
  readonly path: string
  readonly source: ByteSource
  /** Changes with the file. */
  readonly version: string
}

interface ServedModel {
  /** The main file first. */
  readonly files: readonly ServedFile[]
  /** What the directory is called that is this model. */
  readonly folder: string | undefined
  close(): Promise<void>
}

/** What the page reads first. */
export interface FileList {
  readonly files: readonly {
    readonly name: string
    readonly size: number
    readonly address: string
    readonly group: number
    /** Of the main file of a model that is a directory: its name, which becomes that of the model. */
    readonly folder?: string | undefined
  }[]
  readonly command: readonly string[]
}

/** The models that are served. One whose file changed is opened again when it is next asked for. */
export class ServedModels {
  readonly #inputs: readonly string[]
  readonly #options: ServedOptions
  readonly #models: Promise<ServedModel>[]

  private constructor(inputs: readonly string[], options: ServedOptions, models: readonly ServedModel[]) {
    this.#inputs = inputs
    this.#options = options
    this.#models = models.map((model) => Promise.resolve(model))
  }

  /** Opens all inputs or none. */
  static async open(inputs: readonly string[], options: ServedOptions = {}): Promise<ServedModels> {
    const models: ServedModel[] = []
    try {
      for (const input of inputs) models.push(await openServed(input, options))
      return new ServedModels(inputs, options, models)
    } catch (error) {
      for (const model of models) await model.close()
      throw error
    }
  }

  async list(): Promise<FileList> {
    const models = await Promise.all(this.#inputs.map((_, group) => this.#current(group)))
    const files = models.flatMap((model, group) =>
      model.files.map(({ path, source }, i) => ({
        name: path,
        size: source.size,
        address: ['files', group, ...path.split('/').map(encodeURIComponent)].join('/'),
        group,
        ...(i === 0 && model.folder !== undefined && { folder: model.folder }),
      })),
    )
    return { files, command: ['tare', 'view', ...this.#inputs] }
  }

  /** Undefined for everything that was not named. */
  async find(group: string, path: string): Promise<ServedFile | undefined> {
    if (!/^(0|[1-9]\d{0,5})$/.test(group) || Number(group) >= this.#models.length) return undefined
    return (await this.#current(Number(group))).files.find((file) => file.path === path)
  }

  async close(): Promise<void> {
    for (const model of await Promise.allSettled(this.#models))
      if (model.status === 'fulfilled') await model.value.close()
  }

  async #current(group: number): Promise<ServedModel> {
    const known = this.#models[group]!
    const isFresh = await known.then(isUnchanged, () => false)
    // Another request may have opened it again meanwhile.
    if (!isFresh && this.#models[group] === known) {
      this.#models[group] = openServed(this.#inputs[group]!, this.#options)
      this.#models[group].catch(() => {})
      // Answers that are being sent still read from the old one: they end with an error, as their bytes would belong to two states.
      void known.then((model) => model.close()).catch(() => {})
    }
    return this.#models[group]!
  }
}

async function openServed(input: string, options: ServedOptions): Promise<ServedModel> {
  const main = await openInput(input, options)
  try {
    const sources = [main, ...(await filesBeside(main, options))]
    const files: ServedFile[] = []
    for (const [i, source] of sources.entries()) {
      const path = i === 0 ? mainName(input, source) : pathFrom(main.name, source.name)
      // What lies elsewhere has no address below the main file.
      if (path === undefined || files.some((file) => file.path === path)) continue
      files.push({ path, source, version: (await versionOf(source)) ?? `${source.size}` })
    }
    const close = async (): Promise<void> => void (await Promise.all(sources.map((source) => source.close())))
    return { files, folder: main.folder?.isWhole ? main.folder.name : undefined, close }
  } catch (error) {
    await main.close()
    throw error
  }
}

function mainName(input: string, { name }: ByteSource): string {
  if (input === '-') return 'standard-input'
  if (!isRemote(name)) return basename(name)
  const last = pathFrom(name, new URL(name).href.replace(/[?#].*$/, ''))
  return last && isPathBelow(last) ? last : 'model'
}

/** What the page asks for beside the main file: parts of the model, and its chat templates, which lie in a folder of their own. */
async function filesBeside(main: ByteSource, options: ServedOptions): Promise<readonly ByteSource[]> {
  const below = main.folder?.isWhole ? (main.folder.below ?? []) : []
  const templates = below.filter((path) => path.endsWith('.jinja'))
  return [...(await partsOf(main, options)), ...(await openAll(main, templates))]
}

async function openAll(main: ByteSource, paths: readonly string[]): Promise<ByteSource[]> {
  const opened = await Promise.all(paths.map((path) => openBeside(main, path).catch(() => undefined)))
  return opened.filter((source) => source !== undefined)
}

/**
 * Shards, external data and companions. A damaged model is served too: the page shows what is wrong with it. For a report that
 * collects, formats open all files of a set at once.
 */
async function partsOf(main: ByteSource, options: ServedOptions): Promise<readonly ByteSource[]> {
  try {
    const recognised = await recognise(main, { ...options, report: collectingReport(main.name, []) })
    const { model } = await recognised.read()
    return model.files.slice(1)
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    const names = main.folder?.isWhole ? main.folder.files.filter((name) => isCompanion(name) || isWeights(name)) : []
    return (await openAll(main, names)).filter((source) => source.name !== main.name)
  }
}

const isWeights = (name: string): boolean =>
  formats.some(({ extensions }) => extensions.some((extension) => name.toLowerCase().endsWith(extension)))

async function isUnchanged({ files }: ServedModel): Promise<boolean> {
  for (const { source, version } of files) {
    const now = await versionOf(source)
    if (now !== undefined && now !== version) return false
  }
  return true
}

/** Undefined for what is not a file by name: memory, a pipe, an address, a file that is gone and still open. */
async function versionOf(source: ByteSource): Promise<string | undefined> {
  if (!(source instanceof FileSource)) return undefined
  const stats = await stat(source.path).catch(() => undefined)
  return stats && [stats.size, stats.mtimeMs, stats.ino].map((part) => Math.round(part).toString(36)).join('-')
}
