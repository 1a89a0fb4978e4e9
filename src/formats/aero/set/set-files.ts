// Opens the files of a set. Plain names, also in folders below, are files beside the index. Everything else leads elsewhere and is opened
// only through the caller, if at all: an index from a stranger must not make tare read other files or other machines.
import { type ByteSource, isPathBelow, isPlainFileName, type OpenHint, withHead } from '../../../bytes/index.js'
import { ioCodes, isSystemFailure, TareError } from '../../../errors/index.js'
import { closeModel, type ReadContext, type Tensor } from '../../../model/index.js'
import { setCodes } from '../codes.js'
import type { AeroFile, OpenFile, TensorEntry } from '../file.js'
import { readFile } from '../read.js'
import { adoptTensors } from './adopt-tensors.js'
import type { SetFile, SetIndex, SetPart } from './set-json.js'

const headSize = 65_536
/** A part begins with its own index and, where tare wrote it, with its page tables; over a network one request should bring them. */
const partHead = 512 * 1024
const isUrl = (path: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(path)

/** Where a file of the set is: beside the index, or at an address or path elsewhere. */
function locate(file: SetFile, { baseUrl }: SetIndex, source: ByteSource): { beside?: string; elsewhere?: string } {
  const { path } = file
  if (isUrl(path)) return { elsewhere: path }
  const based = baseUrl === undefined ? undefined : `${baseUrl.replace(/\/+$/, '')}/${path}`
  const beside = pathBelow(path)
  // A local index prefers a copy beside it to the address; an index from the network is taken at its word.
  if (based !== undefined && isUrl(source.name)) return { elsewhere: based }
  if (beside !== undefined) return { beside, ...(based !== undefined && { elsewhere: based }) }
  return { elsewhere: based ?? path }
}

/** The path without `.` and `..`; undefined when it leads out of the directory. */
function pathBelow(path: string): string | undefined {
  const steps: string[] = []
  for (const step of path.split('/')) {
    if (step === '.') continue
    if (step !== '..') steps.push(step)
    else if (steps.pop() === undefined) return undefined
  }
  const joined = steps.join('/')
  return isPathBelow(joined) ? joined : undefined
}

export async function openSetFile(
  file: SetFile,
  index: SetIndex,
  source: ByteSource,
  context: ReadContext,
): Promise<ByteSource> {
  const { beside, elsewhere } = locate(file, index, source)
  // The global index will be read as a whole, a part only in its first bytes.
  const hint: OpenHint = { first: file === index.global ? file.size : partHead }
  let opened: ByteSource | undefined
  let failure: unknown
  if (beside !== undefined) {
    try {
      opened = await openBeside(beside, source, hint)
    } catch (error) {
      failure = error
    }
  }
  // A link that leads out of the directory is treated like a path that does.
  const isLinkOut = failure instanceof TareError && failure.code === ioCodes['unsafe-path'].code
  const away = elsewhere ?? (isLinkOut ? beside : undefined)
  if (!opened && away !== undefined) opened = await openElsewhere(away, file, source, context, hint)
  if (!opened) throw failure ?? new Error('this kind of input has no files beside it')
  const head = await opened.read(0, Math.min(opened.size, headSize), { signal: context.signal })
  return withHead(opened, head)
}

async function openBeside(path: string, source: ByteSource, hint: OpenHint): Promise<ByteSource | undefined> {
  return isPlainFileName(path) ? source.sibling?.(path, hint) : source.below?.(path, hint)
}

async function openElsewhere(
  location: string,
  file: SetFile,
  source: ByteSource,
  context: ReadContext,
  hint: OpenHint,
): Promise<ByteSource> {
  const place = { offset: 0, path: `${file.where}.path` }
  const code = isUrl(location) ? setCodes.remote : setCodes.path
  const outside = `${JSON.stringify(location)} ${isUrl(location) ? 'would have to be fetched' : 'leads out of the directory of the set'}`
  if (!context.openElsewhere) {
    const message = isUrl(location) ? `${outside}, and that is not possible here` : outside
    return context.report.fail(code, { ...place, message })
  }
  try {
    return await context.openElsewhere(location, source, hint)
  } catch (error) {
    if (!(error instanceof TareError) || error.code !== ioCodes['unsafe-path'].code) throw error
    return context.report.fail(code, { ...place, message: `${outside}: ${error.finding.message}` })
  }
}

export function checkSize(stated: SetFile, file: ByteSource, { report }: ReadContext): void {
  if (stated.size === undefined || stated.size === file.size) return
  const message = `${JSON.stringify(stated.path)} has ${file.size} bytes, the set index states ${stated.size}`
  report.report(setCodes.size, { offset: 0, path: `${stated.where}.size_bytes`, message })
}

/** One part, read. Entries of the set index that name the same file share it. */
export interface OpenPart extends OpenFile {
  /** What the set index says about it. */
  readonly stated: readonly SetPart[]
}

/** The parts of a set, each opened when it is first needed. */
export class SetParts {
  readonly #index: SetIndex
  readonly #source: ByteSource
  readonly #context: ReadContext
  readonly #global: AeroFile
  /** What the set index says about each file. */
  readonly #byPlace = new Map<string, SetPart[]>()
  readonly #open = new Map<string, Promise<OpenPart>>()

  constructor(index: SetIndex, global: AeroFile, source: ByteSource, context: ReadContext) {
    this.#index = index
    this.#global = global
    this.#source = source
    this.#context = context
    for (const part of index.parts) {
      const place = this.#placeOf(part)
      const known = this.#byPlace.get(place)
      if (known) known.push(part)
      else this.#byPlace.set(place, [part])
    }
  }

  #placeOf(part: SetPart): string {
    const { beside, elsewhere } = locate(part, this.#index, this.#source)
    return beside ?? elsewhere!
  }

  /** Throws `aeroset/path` for a part whose path leads out of the directory and that the caller does not open either; parts beside the index stay closed. */
  async assertPaths(): Promise<void> {
    for (const part of this.#index.parts) {
      const { beside, elsewhere } = locate(part, this.#index, this.#source)
      if (beside !== undefined || isUrl(elsewhere!)) continue
      try {
        const opened = await openSetFile(part, this.#index, this.#source, this.#context)
        await opened.close()
      } catch (error) {
        // Anything else is said when somebody reads from the part.
        if (error instanceof TareError && error.code === setCodes.path.code) throw error
      }
    }
  }

  /** Throws `aeroset/part-missing` when it cannot be opened, or what is wrong with it. */
  open(i: number): Promise<OpenPart> {
    const place = this.#placeOf(this.#index.parts[i]!)
    const known = this.#open.get(place)
    if (known) return known
    const opening = this.#read(this.#byPlace.get(place)!)
    this.#open.set(place, opening)
    opening.catch(() => this.#open.delete(place))
    return opening
  }

  async #read(stated: readonly SetPart[]): Promise<OpenPart> {
    const part = stated[0]!
    const { report } = this.#context
    let source: ByteSource
    try {
      source = await openSetFile(part, this.#index, this.#source, this.#context)
    } catch (error) {
      if (isSystemFailure(error) || (error instanceof TareError && error.code.startsWith('aeroset/'))) throw error
      const message = `${JSON.stringify(part.path)} cannot be opened: ${messageOf(error)}`
      return report.fail(setCodes['part-missing'], { offset: 0, path: `${part.where}.path`, message })
    }
    try {
      for (const each of stated) checkSize(each, source, this.#context)
      const shards = stated.flatMap((each) => each.shards)
      const context = { ...this.#context, report: report.forFile(source.name) }
      const opened = await readFile(source, context, adoptTensors(this.#global, shards))
      // Verifying compares the indexes of all parts later; a reader must not be told something else than the part says.
      if (report.strict) this.#assertAgreement(part, shards, opened.file)
      return { stated, ...opened }
    } catch (error) {
      await source.close()
      throw error
    }
  }

  #assertAgreement({ path }: SetPart, shards: readonly number[], { entries }: AeroFile): void {
    const ownShards = new Set(shards)
    for (const own of entries) {
      const { name } = own.tensor
      const global = this.#global.entryOf(name)
      const differences = global && ownShards.has(global.shardId) ? differencesOf(global, own) : []
      if (differences.length === 0) continue
      const message = `${JSON.stringify(name)} is described differently by the global index and by ${JSON.stringify(path)}: ${differences.join(', ')}`
      const place = { offset: 0, path: `tensors[${global!.index}]` }
      this.#context.report.report(setCodes['index-disagrees'], { ...place, message })
    }
  }

  async close(): Promise<void> {
    for (const opening of this.#open.values()) {
      const part = await opening.catch(() => undefined)
      if (part) await closeModel(part.model)
    }
  }
}

/** In words, how the global index and the index of a part describe a tensor differently; where the bytes lie may differ. */
export function differencesOf(global: TensorEntry, part: TensorEntry): string[] {
  const [tensor, own] = [global.tensor, part.tensor]
  const [type, ownType] = [typeOf(tensor), typeOf(own)]
  const [length, ownLength] = [global.end - global.start, part.end - part.start]
  return [
    tensor.dtype.id !== own.dtype.id && `dtype ${tensor.dtype.id} and ${own.dtype.id}`,
    type !== undefined && ownType !== undefined && type !== ownType && `type ${type} and ${ownType}`,
    String(tensor.shape) !== String(own.shape) && `shape [${tensor.shape}] and [${own.shape}]`,
    length !== ownLength && `data_len ${length} and ${ownLength}`,
    Boolean(global.hash && part.hash) && global.hash !== part.hash && 'different hash_b3',
  ].filter((difference) => typeof difference === 'string')
}

/** What is known of bytes that are no elements: the type of their blocks, or the number that AERO does not define. */
const typeOf = ({ encoding, extra }: Tensor): string | number | undefined =>
  encoding?.id ?? (typeof extra?.dtype === 'number' ? extra.dtype : undefined)

export const messageOf = (error: unknown): string =>
  error instanceof TareError ? error.finding.message : (error as Error).message
