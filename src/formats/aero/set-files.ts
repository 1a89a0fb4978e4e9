// Opens the files of a set. A name without any path is a file beside the index. Everything else leads elsewhere and is opened only by
// whoever called, if at all: an index from a stranger must not make tare read other files or other machines.
import { type ByteSource, isPlainFileName, withHead } from '../../bytes/index.js'
import { TareError } from '../../errors/index.js'
import { closeModel, type Model, type ReadContext } from '../../model/index.js'
import { setCodes } from './codes.js'
import { readFile } from './read.js'
import type { SetFile, SetIndex } from './set-json.js'

const headSize = 65_536
const isUrl = (path: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(path)

/** Where a file of the set is: beside the index, or at an address or path elsewhere. */
function locate(file: SetFile, { baseUrl }: SetIndex, source: ByteSource): { beside?: string; elsewhere?: string } {
  const { path } = file
  if (isUrl(path)) return { elsewhere: path }
  const based = baseUrl === undefined ? undefined : `${baseUrl.replace(/\/+$/, '')}/${path}`
  const beside = isPlainFileName(path) ? path : undefined
  // A copy beside a local index is nearer than the address; an index from the network means what it says.
  if (based !== undefined && isUrl(source.name)) return { elsewhere: based }
  if (beside !== undefined) return { beside, ...(based !== undefined && { elsewhere: based }) }
  return { elsewhere: based ?? path }
}

export async function openSetFile(
  file: SetFile,
  index: SetIndex,
  source: ByteSource,
  context: ReadContext,
): Promise<ByteSource> {
  const { beside, elsewhere } = locate(file, index, source)
  let opened: ByteSource | undefined
  let failure: unknown
  if (beside !== undefined && source.sibling) {
    try {
      opened = await source.sibling(beside)
    } catch (error) {
      failure = error
    }
  }
  if (!opened && elsewhere !== undefined) opened = await openElsewhere(elsewhere, file, context)
  if (!opened) throw failure ?? new Error('this kind of input has no files beside it')
  const head = await opened.read(0, Math.min(opened.size, headSize), { signal: context.signal })
  return withHead(opened, head)
}

async function openElsewhere(location: string, file: SetFile, context: ReadContext): Promise<ByteSource> {
  if (context.openElsewhere) return context.openElsewhere(location)
  const code = isUrl(location) ? setCodes.remote : setCodes.path
  const message = isUrl(location)
    ? `${JSON.stringify(location)} would have to be fetched, and that is not possible here`
    : `${JSON.stringify(location)} leads out of the directory of the set`
  return context.report.fail(code, { offset: 0, path: `${file.where}.path`, message })
}

/** One part, read. */
export interface OpenPart {
  readonly model: Model
  /** Positions in the list of tensors. */
  readonly byName: ReadonlyMap<string, number>
}

/** The parts of a set, each opened when it is first needed. */
export class SetParts {
  readonly #index: SetIndex
  readonly #source: ByteSource
  readonly #context: ReadContext
  readonly #open = new Map<number, Promise<OpenPart>>()

  constructor(index: SetIndex, source: ByteSource, context: ReadContext) {
    this.#index = index
    this.#source = source
    this.#context = context
  }

  /** Throws `aeroset/part-missing` when it cannot be opened, or what is wrong with it. */
  open(i: number): Promise<OpenPart> {
    const known = this.#open.get(i)
    if (known) return known
    const opening = this.#read(i)
    this.#open.set(i, opening)
    opening.catch(() => this.#open.delete(i))
    return opening
  }

  async #read(i: number): Promise<OpenPart> {
    const part = this.#index.parts[i]!
    const { report } = this.#context
    let source: ByteSource
    try {
      source = await openSetFile(part, this.#index, this.#source, this.#context)
    } catch (error) {
      if (error instanceof TareError && error.code.startsWith('aeroset/')) throw error
      const message = `${JSON.stringify(part.path)} cannot be opened: ${messageOf(error)}`
      return report.fail(setCodes['part-missing'], { offset: 0, path: `${part.where}.path`, message })
    }
    try {
      const model = await readFile(source, { ...this.#context, report: report.forFile(source.name) })
      return { model, byName: new Map(model.tensors.map((tensor, position) => [tensor.name, position])) }
    } catch (error) {
      await source.close()
      throw error
    }
  }

  /** Closes what was opened; the file of the index closes those beside it by itself. */
  async close(): Promise<void> {
    for (const opening of this.#open.values()) {
      const part = await opening.catch(() => undefined)
      if (part) await closeModel(part.model)
    }
  }
}

export const messageOf = (error: unknown): string =>
  error instanceof TareError ? error.finding.message : (error as Error).message
