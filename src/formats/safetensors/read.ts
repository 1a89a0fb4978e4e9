// Reads one file: fetches the header, parses it, and checks that the tensors tile the data section.
import { type ByteSource, Cursor, countElements, struct, u64 } from '../../bytes/index.js'
import { NumberList } from '../../bytes/number-list.js'
import { sortedPositions } from '../../bytes/sort-positions.js'
import { type Metadata, type Model, type ReadContext, rangePayload, type Tensor, text } from '../../model/index.js'
import { PackedTensors } from '../../model/packed-tensors.js'
import { JsonScanner } from '../../wire/index.js'
import { codes } from './codes.js'
import type { Tag } from './dtypes.js'
import { type EntryName, entryPath, type Header, isTooLarge, parseHeader } from './header.js'
import { maxHeaderLength } from './limits.js'

const prefix = struct({ headerLength: u64 })

export async function readFile(source: ByteSource, context: ReadContext): Promise<Model> {
  const { report, signal } = context
  if (source.size < prefix.size) {
    const message = `a header length of ${prefix.size} bytes was expected, the file has ${source.size}`
    report.fail(codes.truncated, { offset: 0, path: 'header_length', message })
  }
  const start = new Cursor(await source.read(0, prefix.size, { signal }), report, { extents: context.extents })
  const length = Number(prefix.read(start).headerLength)
  if (length > maxHeaderLength || prefix.size + length > source.size) {
    const limit = Math.min(maxHeaderLength, source.size - prefix.size)
    const message = `the header would take ${length} bytes, at most ${limit} are possible here`
    report.fail(codes['header-length'], { offset: 0, length: prefix.size, path: 'header_length', message })
  }
  const bytes = await source.read(prefix.size, length, { signal })
  const scanner = new JsonScanner(bytes, report, prefix.size, context.limits.depth)
  const data = new DataSection(source, prefix.size + length, scanner, context)
  const header = parseHeader(scanner, context, (key, tag, shape, begin, end) => data.add(key, tag, shape, begin, end))
  recordHeader(header, data.offset, source, context)
  data.checkTiling()
  return {
    format: 'safetensors',
    metadata: toMetadata(header.metadata),
    tensors: data.tensors,
    parts: [],
    files: [source],
  }
}

const toMetadata = (strings: ReadonlyMap<string, string>): Metadata =>
  new Map([...strings].map(([key, value]) => [key, text(value)]))

/** The bytes after the header, and who owns which of them. Ranges are kept in plain arrays: a file can have a million. */
class DataSection {
  readonly offset: number
  readonly tensors = new PackedTensors()
  readonly #size: number
  readonly #source: ByteSource
  readonly #scanner: JsonScanner
  readonly #context: ReadContext
  readonly #begins = new NumberList(Float64Array)
  readonly #ends = new NumberList(Float64Array)
  #refused = 0

  constructor(source: ByteSource, offset: number, scanner: JsonScanner, context: ReadContext) {
    this.offset = offset
    this.#size = source.size - offset
    this.#source = source
    this.#scanner = scanner
    this.#context = context
  }

  /** Takes a tensor whose range exists and has the right length; reports what is wrong with any other. */
  add(key: EntryName, tag: Tag, shape: readonly number[], begin: number, end: number): void {
    const { name, bytes, start } = key
    const count = countElements(shape)
    const bits = count === undefined ? Number.POSITIVE_INFINITY : count * tag.bits
    if (begin > end || end > this.#size || bits !== (end - begin) * 8) {
      this.#refuse(key, tag, shape, begin, end, bits)
      return
    }
    const payload = rangePayload(this.#source, this.offset + begin, end - begin)
    const tensor: Tensor = { name, dtype: tag.dtype, shape, order: 'row', role: 'weight', data: payload }
    this.tensors.push(tensor, bytes, start, start + name.length)
    this.#begins.push(begin)
    this.#ends.push(end)
    const { extents } = this.#context
    extents?.add({
      file: this.#source.name,
      offset: this.offset + begin,
      length: end - begin,
      path: `data[${JSON.stringify(name)}]`,
      kind: 'data',
    })
  }

  #refuse({ name, at }: EntryName, tag: Tag, shape: readonly number[], begin: number, end: number, bits: number): void {
    this.#refused++
    const fail = (code: keyof typeof codes, field: string, message: string): void => {
      this.#context.report.report(codes[code], {
        offset: this.#scanner.offsetAt(at),
        path: entryPath(name) + field,
        message,
      })
      this.#context.onLost?.({
        subject: 'tensor',
        name,
        length: isTooLarge(bits) ? undefined : Math.ceil(bits / 8),
        reason: message,
      })
    }
    const type = `[${shape.join(', ')}] of ${tag.tag}`
    if (begin > end) fail('range', '.data_offsets', `the range ends at ${end}, before it begins at ${begin}`)
    else if (isTooLarge(bits)) fail('shape-overflow', '.shape', `${type} is more than any file can hold`)
    else if (bits % 8 !== 0) fail('size', '.shape', `${type} does not fill whole bytes`)
    else if (end > this.#size)
      fail('past-end', '.data_offsets', `it ends at ${end}, the data section has ${this.#size} bytes`)
    else fail('size', '.data_offsets', `${end - begin} bytes, but ${type} takes ${bits / 8}`)
  }

  /** In order of offset, each tensor must begin where the one before it ends. */
  checkTiling(): void {
    const { report } = this.#context
    let previous: number | undefined
    let reached = 0
    for (const i of this.#inOffsetOrder()) {
      const begin = this.#begins.at(i)
      if (begin !== reached && !this.#isRepeat(i, previous, reached)) {
        const before = previous === undefined ? 'the header' : JSON.stringify(this.tensors.nameAt(previous))
        const isHole = begin > reached
        const message = isHole
          ? `${begin - reached} bytes after ${before} belong to nobody`
          : `it shares bytes with ${before}`
        const place = { offset: this.offset + Math.min(begin, reached), length: Math.abs(begin - reached) }
        report.report(isHole ? codes.hole : codes.overlap, {
          ...place,
          path: `${entryPath(this.tensors.nameAt(i))}.data_offsets`,
          message,
        })
      }
      reached = Math.max(reached, this.#ends.at(i))
      previous = i
    }
    // Entries that were refused may own the rest; saying that it belongs to nobody would be a guess.
    if (reached < this.#size && this.#refused === 0) {
      const message = `${this.#size - reached} bytes after the last tensor belong to nobody`
      report.report(codes['trailing-bytes'], {
        offset: this.offset + reached,
        length: this.#size - reached,
        path: 'data',
        message,
      })
    }
  }

  /** The same name with the same range again was reported as a duplicate; it is no overlap on top. */
  #isRepeat(i: number, previous: number | undefined, reached: number): boolean {
    if (previous === undefined || this.#ends.at(i) !== reached) return false
    return this.tensors.nameAt(previous) === this.tensors.nameAt(i)
  }

  #inOffsetOrder(): Iterable<number> {
    const begins = this.#begins
    const ends = this.#ends
    const compare = (a: number, b: number): number => begins.at(a) - begins.at(b) || ends.at(a) - ends.at(b)
    return sortedPositions(begins.length, compare)
  }
}

/** The byte map of the header: one row per member, with the punctuation that leads to it, then the padding. */
function recordHeader(header: Header, dataOffset: number, source: ByteSource, { extents }: ReadContext): void {
  if (!extents) return
  const { scanner } = header
  const add = (from: number, to: number, path: string, kind: 'field' | 'padding', value?: string): void => {
    const offset = scanner.offsetAt(from)
    const length = (to === scanner.length ? dataOffset : scanner.offsetAt(to)) - offset
    if (length > 0) extents.add({ file: source.name, offset, length, path, kind, value })
  }
  let at = 0
  for (const [i, member] of header.members.entries()) {
    const to = i === header.members.length - 1 ? header.end : member.end
    add(at, to, entryPath(member.name), 'field', scanner.slice(at, Math.min(to, at + 200)))
    at = to
  }
  if (header.members.length === 0) add(0, header.end, 'header', 'field', '{}')
  add(header.end, scanner.length, 'header_padding', 'padding')
}
