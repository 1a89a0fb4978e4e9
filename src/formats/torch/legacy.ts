// The format before PyTorch 1.6: five pickles in a row, then the storages. The pickles are a magic number, the version 1001, what machine
// wrote it, the object itself, and the list of storage keys. For each key, in that order, follow an i64 count of elements and the bytes.
import { type ByteSource, toSafe } from '../../bytes/index.js'
import { WindowReader } from '../../bytes/window-reader.js'
import { checkArchive } from '../../content/torch-save/check.js'
import { codes } from '../../content/torch-save/codes.js'
import { checkGlobals } from '../../content/torch-save/globals.js'
import {
  readStorageIds,
  type Storage,
  type StorageId,
  type StorageIds,
  type Storages,
} from '../../content/torch-save/objects/storages.js'
import { walk } from '../../content/torch-save/objects/walk.js'
import { rememberTree, type TreeContent } from '../../content/torch-save/tree.js'
import { type Code, collectingReport, type Details, neededSize, type Report, TareError } from '../../errors/index.js'
import { type Model, type Opened, type Payload, type ReadContext, rangePayload } from '../../model/index.js'
import { type Pickle, PickleDict, PickleList, pickleCodes, readPickle } from '../../wire/pickle/pickle.js'

const magicNumber = 0x1950a86a20f9469cfc6cn
const protocolVersion = 1001n

export async function readLegacy(source: ByteSource, context: ReadContext): Promise<Opened> {
  const { object, storages } = await parse(source, context)
  const options = { file: source.name, path: 'object', size: object.byteLength }
  const { tensors, metadata, numbered } = walk(object.value, storages, context, options)
  rememberTree(source, { tensors, metadata, numbered, isCopied: false, read: () => readTree(source, context) })
  const model: Model = {
    format: 'torch',
    version: protocolVersion.toString(),
    variant: 'legacy',
    metadata,
    tensors,
    parts: [],
    files: [source],
  }
  return { model, check: (checking) => checkArchive({ source, members: [], tensorsIn: () => [] }, checking) }
}

/** The same again, as data to write: what was reported is not reported twice. */
async function readTree(source: ByteSource, context: ReadContext): Promise<TreeContent> {
  const report = collectingReport(source.name, [])
  const onLost = context.onLost && (() => {})
  const { object, storages } = await parse(source, { ...context, report, extents: undefined, onLost })
  return { value: object.value, storages }
}

async function parse(source: ByteSource, context: ReadContext): Promise<{ object: Pickle; storages: Storages }> {
  const { report } = context
  const pickles = new PickleReader(source, context)
  const first = await pickles.next('magic')
  if (first.value !== magicNumber) {
    const message = 'this is a pickle, but it does not begin with the magic number of PyTorch'
    report.fail(codes.magic, { offset: 0, path: 'magic', message })
  }
  const versionAt = pickles.offset
  const version = await pickles.next('protocol_version')
  if (version.value !== protocolVersion) {
    const shown = typeof version.value === 'bigint' ? version.value : 'not a number'
    const message = `the version is ${shown}, ${protocolVersion} was expected`
    report.fail(codes['protocol-version'], { offset: versionAt, path: 'protocol_version', message })
  }
  const isBigEndian = await readByteOrder(pickles, context)
  const object = await pickles.next('object')
  const ids = readStorageIds(object.references, 'object', context, { lengths: [5, 6], hasModules: true })
  const keys = await readKeys(pickles, context)
  const found = await findStorages(source, pickles.offset, keys, ids, context)
  let byteLength = 0
  for (const storage of found.values()) byteLength += storage.byteLength
  return { object, storages: { ids, byteLength, isBigEndian, find: ({ key }) => found.get(key) } }
}

const firstAttempt = 1 << 16
const growth = 8
/** How a pickle fails that is only partly there. */
const cutCodes = new Set([pickleCodes.truncated.code, pickleCodes.length.code])

/** Reads one pickle after another. How long one is shows only at its end, so it is tried again with more bytes when they end before it. */
class PickleReader {
  offset = 0
  readonly #window: WindowReader
  readonly #context: ReadContext

  constructor(source: ByteSource, context: ReadContext) {
    this.#window = new WindowReader(source, { signal: context.signal, min: firstAttempt })
    this.#context = context
  }

  async next(path: string): Promise<Pickle> {
    const { report, extents, limits } = this.#context
    const max = Math.min(this.#window.end - this.offset, limits.indexBytes)
    for (let length = Math.min(firstAttempt, max); ; length = Math.min(length * growth, max)) {
      await this.#window.reach(this.offset, length)
      const pickle = this.#attempt(this.#window.slice(this.offset, length), path, length === max)
      if (!pickle) continue
      const { byteLength } = pickle
      checkGlobals({ globals: pickle.globals, readCalls: () => pickle.calls }, path, this.#context)
      extents?.add({ file: report.file, offset: this.offset, length: byteLength, path, kind: 'field' })
      this.offset += byteLength
      return pickle
    }
  }

  /** Undefined when the pickle may only have been cut by the window. */
  #attempt(bytes: Uint8Array, path: string, isAll: boolean): Pickle | undefined {
    const { report } = this.#context
    const options = { base: this.offset, path }
    if (isAll) return readPickle(bytes, report, options)
    const { trial, replay } = trialReport(report)
    try {
      const pickle = readPickle(bytes, trial, options)
      replay()
      return pickle
    } catch (error) {
      if (!(error instanceof TareError) || !cutCodes.has(error.code)) {
        readPickle(bytes, report, options) // the same failure, for the record
        throw error
      }
      return undefined
    }
  }
}

/** A report that keeps what it is told until it is clear that the attempt counts. */
function trialReport(report: Report): { trial: Report; replay: () => void } {
  const kept: [Code, Details][] = []
  const trial: Report = {
    file: report.file,
    strict: true,
    report: (code, details) => void kept.push([code, details]),
    fail(code, details): never {
      throw new TareError({ code: code.code, severity: code.severity, file: report.file, ...details })
    },
    forFile: () => trial,
  }
  const replay = (): void => {
    for (const [code, details] of kept) report.report(code, details)
  }
  return { trial, replay }
}

async function readByteOrder(pickles: PickleReader, { report }: ReadContext): Promise<boolean> {
  const offset = pickles.offset
  const { value } = await pickles.next('system_info')
  const little = value instanceof PickleDict ? value.get('little_endian') : undefined
  if (typeof little !== 'boolean') {
    const message = 'it does not say whether numbers are little-endian'
    report.report(codes['system-info'], { offset, path: 'system_info.little_endian', message })
  }
  return little === false
}

async function readKeys(pickles: PickleReader, { report }: ReadContext): Promise<string[]> {
  const offset = pickles.offset
  const { value } = await pickles.next('storage_keys')
  const keys = value instanceof PickleList ? value.items : undefined
  if (!keys?.every((key) => typeof key === 'string') || new Set(keys).size !== keys.length) {
    const message = 'a list of different texts was expected'
    return report.fail(codes['storage-keys'], { offset, path: 'storage_keys', message })
  }
  return keys
}

const countSize = 8

/** Goes through the storages in order. Each one's size follows from its count and from what the pickle says its elements are. */
async function findStorages(
  source: ByteSource,
  start: number,
  keys: readonly string[],
  ids: StorageIds,
  context: ReadContext,
): Promise<Map<string, Storage>> {
  const { report, extents, signal } = context
  const byKey = groupByKey(ids, context)
  const window = new WindowReader(source, { signal })
  const found = new Map<string, Storage>()
  let at = start
  for (const key of keys) {
    const path = `storages[${JSON.stringify(key)}]`
    const id = byKey.get(key)
    if (!id) {
      const message = 'nothing refers to this storage, so its size is not known'
      return report.fail(codes['storage-keys'], { offset: at, path, message })
    }
    if (at + countSize > source.size) {
      truncated(at + countSize, path)
      break
    }
    if (!window.holds(at, countSize)) await window.reach(at, countSize)
    const count = window.view.getBigInt64(at - window.offset, true)
    const place = { file: source.name, offset: at, length: countSize, path: `${path}.count` }
    extents?.add({ ...place, kind: 'field', value: count })
    const byteLength = (toSafe(count) ?? Number.POSITIVE_INFINITY) * id.elementSize
    if (byteLength !== id.byteLength) {
      const message = `the file has ${count} elements of ${id.elementSize} bytes, the tensors want ${id.byteLength} bytes`
      return report.fail(codes['storage-size'], { offset: at, path: `${path}.count`, message })
    }
    at += countSize
    if (at + byteLength > source.size) {
      truncated(at + byteLength, path)
      at = source.size
      break
    }
    extents?.add({ file: source.name, offset: at, length: byteLength, path: `${path}.data`, kind: 'data' })
    found.set(key, new RangeStorage(source, at, byteLength))
    at += byteLength
  }
  const listed = new Set(keys)
  for (const [key, { offset }] of byKey) {
    if (found.has(key) || listed.has(key)) continue
    const message = `there is no storage ${JSON.stringify(key)}`
    report.report(codes['storage-missing'], { offset, path: 'object', message })
  }
  if (at < source.size) {
    const message = `${source.size - at} bytes come after the last storage`
    report.report(codes['trailing-bytes'], { offset: at, length: source.size - at, path: 'storages', message })
  }
  return found

  /** The storages before are whole; which tensors lie in the others shows when they are looked for. */
  function truncated(end: number, path: string): void {
    const message = `the storage ends at ${end}, the file at ${source.size}`
    const place = { offset: at, length: source.size - at, path, message, ...neededSize(end) }
    if (!context.onLost) report.fail(codes.truncated, place)
    report.report(codes.truncated, place)
  }
}

function groupByKey(ids: StorageIds, { report }: ReadContext): Map<string, StorageId> {
  const byKey = new Map<string, StorageId>()
  for (const id of ids) {
    if (!id) continue
    const known = byKey.get(id.key)
    if (!known) byKey.set(id.key, id)
    else if (known.elementSize !== id.elementSize || known.byteLength !== id.byteLength) {
      const message = `the storage ${JSON.stringify(id.key)} is described in two ways`
      report.report(codes['storage-size'], { offset: id.offset, path: 'object', message })
    }
  }
  return byKey
}

/** A class with three fields, since a file can have a storage for each of a hundred thousand tensors. */
class RangeStorage implements Storage {
  readonly byteLength: number
  readonly #source: ByteSource
  readonly #offset: number

  constructor(source: ByteSource, offset: number, byteLength: number) {
    this.#source = source
    this.#offset = offset
    this.byteLength = byteLength
  }

  part(offset: number, length: number): Payload {
    return rangePayload(this.#source, this.#offset + offset, length)
  }
}
