// The tensors of one file. An entry gives name, dimensions (innermost first: the reverse of a row-major shape), type and an offset that
// counts from the start of the data. The data starts at the first multiple of the alignment after the index, and each tensor is filled up
// to the alignment, also the last.
import {
  alignUp,
  countElements,
  decodeUtf8,
  inOrder,
  maxSafe,
  type Range,
  sizeAt,
  type WindowReader,
  withReached,
} from '../../bytes/index.js'
import { type GgmlType, ggmlTypeByNumber, removedGgmlTypes } from '../../dtypes/ggml/index.js'
import { type Code, neededSize } from '../../errors/index.js'
import { type ReadContext, rangePayload, type Tensor } from '../../model/index.js'
import { sharedShape } from '../../model/model.js'
import { codes } from './codes.js'
import { numberAt } from './parse-index.js'
import { type Encoding, type GgufFile, maxDims, maxNameBytes } from './structs.js'
import { isOrderAgreed, toLittleEndian } from './swap.js'

/** What an entry says. Numbers beyond 2^53-1 are bigints. */
interface TensorInfo {
  readonly start: number
  /** Undefined when it is not UTF-8. */
  readonly name: string | undefined
  readonly nameLength: number
  /** Outermost first, the reverse of what the file has. */
  readonly shape: readonly (number | bigint)[]
  readonly type: number
  readonly offset: number | bigint
}

/** `starts`: where the entries begin. */
export function readTensors(starts: readonly number[], file: TensorFile): Pick<GgufFile, 'tensors' | 'padding'> {
  const { source } = file.window
  const tensors: Tensor[] = []
  const places: Place[] = []
  const entries = new Map<string, number>()
  for (const [i, start] of starts.entries()) {
    const info = readInfo(start, file)
    recordInfo(info, i, file)
    const name = checkName(info, i, entries, file)
    const type = checkType(info, i, file)
    const shape = checkShape(info, i, type, file)
    if (name === undefined || !type || !shape) continue
    const place = checkPlace(name, info, i, type, shape, file)
    if (!place) continue
    const stored = rangePayload(source, Math.min(place.start, source.size), place.end - place.start)
    const data = file.encoding.littleEndian ? stored : toLittleEndian(stored, type)
    tensors.push({
      name,
      dtype: type.dtype,
      shape: sharedShape(shape, tensors.at(-1)),
      order: 'row',
      role: 'weight',
      data,
    })
    places.push(place)
  }
  return { tensors, padding: starts.length > 0 ? checkPlaces(places, starts, file) : checkRest(file) }
}

function checkName(info: TensorInfo, i: number, entries: Map<string, number>, file: TensorFile): string | undefined {
  const { name, nameLength, start } = info
  if (name === undefined) {
    say(codes['name-utf8'], i, 'name', start, 'the name is not UTF-8', file)
    return undefined
  }
  const first = entries.get(name)
  if (first === undefined) entries.set(name, i)
  else say(codes['duplicate-name'], i, 'name', start, `tensors[${first}] is called ${JSON.stringify(name)} too`, file)
  if (name === '') say(codes['name-empty'], i, 'name', start, 'the name is empty', file)
  if (nameLength > maxNameBytes) {
    const code = file.context.lenient ? codes['name-length-taken'] : codes['name-length']
    say(code, i, 'name', start, `the name has ${nameLength} bytes, at most ${maxNameBytes} are possible`, file)
  }
  return first === undefined ? name : undefined
}

function checkType(info: TensorInfo, i: number, file: TensorFile): GgmlType | undefined {
  const type = ggmlTypeByNumber(info.type)
  if (type) return type
  const removed = removedGgmlTypes.get(info.type)
  const message = removed
    ? `type ${info.type} was ${removed}, which ggml has removed`
    : `there is no tensor type ${info.type}`
  say(codes['tensor-type'], i, 'type', info.start, message, file)
  return undefined
}

function checkShape(
  { shape, start }: TensorInfo,
  i: number,
  type: GgmlType | undefined,
  file: TensorFile,
): readonly number[] | undefined {
  if (shape.length > maxDims) {
    const message = `${shape.length} dimensions, at most ${maxDims} are possible`
    say(codes['dims-count'], i, 'n_dimensions', start, message, file)
    return undefined
  }
  const count = isSafe(shape) ? countElements(shape) : undefined
  const bits = type ? (type.dtype.group.bytes * 8) / type.dtype.group.elements : 8
  if (isSafe(shape) && count !== undefined && (count * bits) / 8 <= maxSafe) return shape
  say(codes['dims-overflow'], i, 'dimensions', start, `[${shape.join(', ')}] is more than any file can hold`, file)
  return undefined
}

const isSafe = (shape: readonly (number | bigint)[]): shape is readonly number[] =>
  shape.every((dim) => typeof dim === 'number')

/** Where the data of a tensor lies: on a multiple of the alignment, and inside the file. */
function checkPlace(
  name: string,
  info: TensorInfo,
  i: number,
  type: GgmlType,
  shape: readonly number[],
  file: TensorFile,
): Place | undefined {
  const { window, dataStart, alignment, encoding, context } = file
  const { offset } = info
  const size = type.dtype.byteLength(shape)
  if (size === undefined) {
    const message = `rows of ${shape.at(-1) ?? 1} elements are not a whole number of blocks of ${type.dtype.group.elements} (${type.name})`
    say(codes['block-rows'], i, 'dimensions', info.start, message, file)
    return undefined
  }
  const dataSize = Math.max(0, window.source.size - dataStart)
  if (typeof offset === 'bigint' || offset + size > dataSize) {
    const message = `it takes ${size} bytes from ${offset} on, but the data has ${dataSize}`
    const needs = neededSize(dataStart + Number(offset) + size)
    say(codes['past-end'], i, 'offset', info.start, message, file, needs)
    context.onLost?.({ subject: 'tensor', name, length: size, reason: message })
    return undefined
  }
  if (offset % alignment !== 0) {
    say(codes['offset-alignment'], i, 'offset', info.start, `${offset} is not a multiple of ${alignment}`, file)
    return undefined
  }
  if (!encoding.littleEndian && !isOrderAgreed(type)) {
    const message = `${JSON.stringify(name)} is ${type.name}, whose blocks no other program writes in this byte order`
    say(codes['byte-order-type'], i, 'type', info.start, message, file)
  }
  return { start: dataStart + offset, end: dataStart + offset + size, name, entry: i }
}

/** An entry that the parser has stepped over. */
function readInfo(start: number, { window, encoding }: TensorFile): TensorInfo {
  const { view } = window
  const { littleEndian, lengthSize } = encoding
  const nameLength = Number(numberAt(view, start, encoding))
  const rankAt = start + lengthSize + nameLength
  const rank = view.getUint32(rankAt, littleEndian)
  const shape = new Array<number | bigint>(rank)
  for (let k = 0; k < rank; k++) shape[rank - 1 - k] = numberAt(view, rankAt + 4 + k * lengthSize, encoding)
  const typeAt = rankAt + 4 + rank * lengthSize
  return {
    start,
    name: decodeUtf8(window.slice(start + lengthSize, nameLength)),
    nameLength,
    shape,
    type: view.getUint32(typeAt, littleEndian),
    offset: sizeAt(view, typeAt + 4, littleEndian) ?? view.getBigUint64(typeAt + 4, littleEndian),
  }
}

/** The byte map of an entry. */
function recordInfo({ start, name, nameLength, shape, type, offset }: TensorInfo, i: number, file: TensorFile): void {
  const { extents } = file.context
  if (!extents) return
  const { lengthSize } = file.encoding
  let at = start
  const add = (length: number, field: string, value: string | number | bigint | undefined): void => {
    extents.add({
      file: file.window.source.name,
      offset: at,
      length,
      path: `tensors[${i}].${field}`,
      kind: 'field',
      value,
    })
    at += length
  }
  add(lengthSize, 'name_length', nameLength)
  add(nameLength, 'name', name)
  add(4, 'n_dimensions', shape.length)
  for (const [k, dim] of shape.toReversed().entries()) add(lengthSize, `dimensions[${k}]`, dim)
  add(4, 'type', type)
  add(8, 'offset', offset)
}

// Where the tensors lie in the data.

/** What the checks of a tensor need to know about its file. */
export interface TensorFile {
  readonly window: WindowReader
  readonly encoding: Encoding
  readonly context: ReadContext
  readonly alignment: number
  readonly indexEnd: number
  /** The next multiple of the alignment. */
  readonly dataStart: number
}

/** Where the data of a tensor lies, and which entry says so. */
interface Place extends Range {
  readonly name: string
  readonly entry: number
}

/** In order of offset, each tensor must begin where the one before it is filled up to the alignment. Returns the padding. */
function checkPlaces(places: readonly Place[], starts: readonly number[], file: TensorFile): Range[] {
  const { context, alignment, indexEnd, dataStart } = file
  const { source } = file.window
  // The bytes that no tensor is known to own may belong to one that was refused.
  const isComplete = places.length === starts.length
  const padding: Range[] = []
  const pad = (start: number, end: number, path: string): void => {
    if (end <= start || end > source.size) return
    padding.push({ start, end })
    context.extents?.add({ file: source.name, offset: start, length: end - start, path, kind: 'padding' })
  }
  pad(indexEnd, dataStart, 'header_padding')
  let end = dataStart
  for (const { range, reached, before } of withReached(inFileOrder(places, starts, file), dataStart)) {
    const { name, entry, start } = range
    const next = alignUp(reached, alignment)
    if (start < reached) {
      const message = `${JSON.stringify(name)} and ${JSON.stringify(before!.name)} share bytes`
      say(codes.overlap, entry, 'offset', start, message, file)
    } else pad(reached, next, 'padding')
    if (start > next && isComplete) {
      const message = `${start - next} bytes before ${JSON.stringify(name)} belong to no tensor`
      say(codes.gap, entry, 'offset', next, message, file)
    }
    context.extents?.add({
      file: source.name,
      offset: start,
      length: range.end - start,
      path: `data[${JSON.stringify(name)}]`,
      kind: 'data',
    })
    end = Math.max(reached, range.end)
  }
  if (!isComplete) return padding
  const padded = alignUp(end, alignment)
  pad(end, Math.min(padded, source.size), 'padding')
  if (source.size < padded) {
    const code = context.lenient ? codes['tail-padding-taken'] : codes['tail-padding']
    const message = `the file should go on to ${padded}, it ends at ${source.size}`
    context.report.report(code, { offset: source.size, path: 'padding', message })
  } else checkTrailing(padded, file)
  return padding
}

/** Places with bytes, by where they are; that should be the order of the list. */
function inFileOrder(places: readonly Place[], starts: readonly number[], file: TensorFile): readonly Place[] {
  const stray = places.find(({ start }, i) => i > 0 && start < places[i - 1]!.start)
  if (stray) {
    const message = `the data of ${JSON.stringify(stray.name)} lies before that of the tensor listed before it`
    say(codes.order, stray.entry, 'offset', starts[stray.entry]!, message, file)
  }
  const ordered = stray ? inOrder(places, 'shortest') : places
  return ordered.filter(({ start, end }) => end > start)
}

/** Without tensors there is nothing to align; some writers fill up the index all the same. */
function checkRest(file: TensorFile): Range[] {
  const { window, indexEnd, dataStart } = file
  checkTrailing(dataStart, file)
  const end = Math.min(dataStart, window.source.size)
  return end > indexEnd ? [{ start: indexEnd, end }] : []
}

function checkTrailing(end: number, { window, context }: TensorFile): void {
  const length = window.source.size - end
  if (length <= 0) return
  const message = `${length} bytes after the last tensor belong to no tensor`
  context.report.report(codes['trailing-bytes'], { offset: end, length, path: 'data', message })
}

function say(
  code: Code,
  i: number,
  field: string,
  offset: number,
  message: string,
  { context }: TensorFile,
  needs: { readonly needs?: number } = {},
): void {
  context.report.report(code, { offset, path: `tensors[${i}].${field}`, message, ...needs })
}
