// A safetensors file is a u64 length, that many bytes of JSON (the header), and the elements of the tensors (the data):
//
//   {"__metadata__": {"format": "pt"}, "a.weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …}
//
// Offsets count from the end of the header. The tensors tile the data: in order of offset the first one begins at 0, each one begins
// where the one before it ends, and the last one ends with the file. The header may end in spaces; writers align the data with them.
import {
  type ByteSource,
  countElements,
  type ExtentRecorder,
  inOrder,
  maxSafe,
  ownText,
  type Range,
  withReached,
} from '../../bytes/index.js'
import { neededSize, type Report, strictReport } from '../../errors/index.js'
import {
  type MetaValue,
  type Model,
  type Opened,
  type ReadContext,
  rangePayload,
  type Tensor,
} from '../../model/index.js'
import { sharedShape } from '../../model/model.js'
import { JsonScanner } from '../../wire/index.js'
import { check } from './check.js'
import { codes } from './codes.js'
import { headSize, isIndex } from './detect.js'
import { checkPadding, type Entry, entryPath, readEntry, readMetadata } from './header.js'
import { withIndexMetadata } from './index-metadata.js'
import { readIndex } from './read-index.js'
import { readSet, setOf } from './read-set.js'
import { headerLengthIn, maxHeaderLength, metadataKey, prefix, startsLikeText } from './structs.js'

/** A model is one file, or a set of files, mostly with an index. */
export async function read(source: ByteSource, context: ReadContext): Promise<Opened> {
  const head = await source.read(0, Math.min(source.size, headSize), { signal: context.signal })
  const set = setOf(source)
  const model =
    startsLikeText(head) && isIndex(head, source.name)
      ? await readIndex(source, context, readFile)
      : set
        ? await readSet(source, set, context, readFile)
        : withIndexMetadata(await readFile(source, context))
  return { model, check: (checking) => check(model, checking) }
}

/** One file, from its first byte to its last. */
async function readFile(source: ByteSource, context: ReadContext): Promise<Model> {
  const { report, extents, limits, signal } = context

  // How long the header is. The rest of the file is data.
  if (source.size < prefix.size) {
    const message = `a header length of ${prefix.size} bytes was expected, the file has ${source.size}`
    report.fail(codes.truncated, { offset: 0, path: 'header_length', needs: prefix.size, message })
  }
  const stated = headerLengthIn(await source.read(0, prefix.size, { signal }))
  const row = { path: 'header_length', kind: 'field', value: stated } as const
  extents?.add({ file: source.name, offset: 0, length: prefix.size, ...row })
  const length = Number(stated)
  const maxLength = Math.min(maxHeaderLength, source.size - prefix.size)
  if (length > maxLength) {
    const message = `the header would take ${length} bytes, at most ${maxLength} are possible here`
    const needs = length <= maxHeaderLength ? neededSize(prefix.size + length) : {}
    report.fail(codes['header-length'], { offset: 0, length: prefix.size, path: 'header_length', message, ...needs })
  }
  const data: Range = { start: prefix.size + length, end: source.size }

  // The header is one JSON object. It must begin at once, and end in nothing but spaces.
  const json = await source.read(prefix.size, length, { signal })
  const header = new JsonScanner(json, report, prefix.size, limits.depth)
  if (header.peek('header') !== 'object') header.syntax('an object', 'header')
  if (header.index > 0) {
    const message = 'white space comes before the "{"'
    report.report(codes['header-start'], { offset: prefix.size, path: 'header', message })
  }

  // Its members are the metadata and the tensors, in any order. Each tensor is compared with the data on its own first.
  const metadata = new Map<string, MetaValue>()
  const tensors: Tensor[] = []
  const offsets = new Map<string, number>()
  let refused = 0
  header.beginObject('header')
  for (;;) {
    const offset = header.offsetAt()
    const key = header.nextKey('header')
    if (key === undefined) break
    const name = ownText(key)
    checkName(name, offset, offsets, report)
    if (name === metadataKey) {
      readMetadata(header, metadata, report)
      continue
    }
    const entry = readEntry(header, name, offset, report)
    const problem = entry && findProblem(entry, data.end - data.start)
    if (problem) {
      refused++
      refuse(name, offset, problem, entry.end + data.start, context)
    } else if (entry) {
      const place = { offset: data.start + entry.begin, length: entry.end - entry.begin }
      extents?.add({ file: source.name, ...place, path: `data[${JSON.stringify(name)}]`, kind: 'data' })
      const shape = sharedShape(entry.shape, tensors.at(-1))
      const payload = rangePayload(source, place.offset, place.length)
      tensors.push({ name, dtype: entry.tag.dtype, shape, order: 'row', role: 'weight', data: payload })
    }
  }
  checkPadding(header, report)

  // Together they tile the data.
  checkTiling(tensors, data, refused, report)
  if (extents) recordHeader(extents, source.name, json)
  return { format: 'safetensors', metadata, tensors, parts: [], files: [source] }
}

/** Readers disagree on a name that is there twice: the reference library takes the last tensor, and refuses the metadata. */
function checkName(name: string, offset: number, offsets: Map<string, number>, report: Report): void {
  if (name === '') report.report(codes['name-empty'], { offset, path: entryPath(name), message: 'the name is empty' })
  const first = offsets.get(name)
  if (first === undefined) {
    offsets.set(name, offset)
    return
  }
  const message = `${JSON.stringify(name)} was there before, at 0x${first.toString(16)}`
  if (name === metadataKey) report.fail(codes['metadata-twice'], { offset, path: entryPath(name), message })
  report.report(codes['duplicate-name'], { offset, path: entryPath(name), message })
}

interface Problem {
  readonly code: keyof typeof codes
  readonly field: 'shape' | 'data_offsets'
  readonly message: string
  /** The bytes that the tensor would take. */
  readonly length: number | undefined
}

/** What is wrong with the place or the size of a tensor. */
function findProblem({ tag, shape, begin, end }: Entry, dataSize: number): Problem | undefined {
  const bits = (countElements(shape) ?? Number.POSITIVE_INFINITY) * tag.bits
  if (begin <= end && end <= dataSize && bits === (end - begin) * 8) return undefined
  const length = bits <= maxSafe ? Math.ceil(bits / 8) : undefined
  const problem = (code: Problem['code'], field: Problem['field'], message: string) => ({
    code,
    field,
    message,
    length,
  })
  const type = `[${shape.join(', ')}] of ${tag.tag}`
  if (begin > end) return problem('range', 'data_offsets', `the range ends at ${end}, before it begins at ${begin}`)
  if (length === undefined) return problem('shape-overflow', 'shape', `${type} is more than any file can hold`)
  if (bits % 8 !== 0) return problem('size', 'shape', `${type} does not fill whole bytes`)
  if (end > dataSize)
    return problem('past-end', 'data_offsets', `it ends at ${end}, the data section has ${dataSize} bytes`)
  return problem('size', 'data_offsets', `${end - begin} bytes, but ${type} takes ${length}`)
}

function refuse(name: string, offset: number, problem: Problem, end: number, { report, onLost }: ReadContext): void {
  const { code, field, message, length } = problem
  const needs = code === 'past-end' ? neededSize(end) : {}
  report.report(codes[code], { offset, path: `${entryPath(name)}.${field}`, message, ...needs })
  onLost?.({ subject: 'tensor', name, length, reason: message })
}

/** In order of offset, each tensor must begin where those before it end. */
function checkTiling(tensors: readonly Tensor[], data: Range, refused: number, report: Report): void {
  if (isTiled(tensors, data)) return
  const places = tensors.map(({ name, data: payload }) => {
    const { offset, length } = payload!.origin!
    return { name, start: offset, end: offset + length }
  })
  let end = data.start
  for (const { range, reached, before } of withReached(inOrder(places, 'shortest'), data.start)) {
    end = Math.max(reached, range.end)
    // The same name with the same range was reported as a duplicate; it is no overlap on top.
    const isRepeat = range.name === before?.name && range.end === reached
    if (range.start === reached || isRepeat) continue
    const isHole = range.start > reached
    const neighbour = before ? JSON.stringify(before.name) : 'the header'
    const message = isHole
      ? `${range.start - reached} bytes after ${neighbour} belong to no tensor`
      : `it shares bytes with ${neighbour}`
    report.report(isHole ? codes.hole : codes.overlap, {
      offset: Math.min(range.start, reached),
      length: Math.abs(range.start - reached),
      path: `${entryPath(range.name)}.data_offsets`,
      message,
    })
  }
  // The rest may belong to a tensor that was refused.
  if (end < data.end && refused === 0) {
    const message = `${data.end - end} bytes after the last tensor belong to no tensor`
    report.report(codes['trailing-bytes'], { offset: end, length: data.end - end, path: 'data', message })
  }
}

/** Whether the tensors lie side by side as they are listed, as in nearly every file. Then there is nothing to sort. */
function isTiled(tensors: readonly Tensor[], data: Range): boolean {
  let reached = data.start
  for (const tensor of tensors) {
    const { offset, length } = tensor.data!.origin!
    if (offset !== reached) return false
    reached += length
  }
  return reached === data.end
}

/** The byte map of the header: a row for each member, with the punctuation before it, then the padding. */
function recordHeader(extents: ExtentRecorder, file: string, json: Uint8Array): void {
  const header = new JsonScanner(json, strictReport(file), prefix.size, Number.POSITIVE_INFINITY)
  const members: { path: string; end: number }[] = []
  header.beginObject('')
  for (let name = header.nextKey(''); name !== undefined; name = header.nextKey('')) {
    header.skip('')
    members.push({ path: entryPath(name), end: header.index })
  }
  if (members.length === 0) members.push({ path: 'header', end: 0 })
  members.at(-1)!.end = header.end('')
  let start = 0
  const add = (end: number, path: string, kind: 'field' | 'padding', value?: string): void => {
    const offset = header.offsetAt(start)
    const length = header.offsetAt(end) - offset
    if (length > 0) extents.add({ file, offset, length, path, kind, value })
    start = end
  }
  for (const { path, end } of members) add(end, path, 'field', header.slice(start, Math.min(end, start + 200)))
  add(header.length, 'header_padding', 'padding')
}
