// Tensors that are not contiguous: transposed, stepped, expanded or overlapping views of a storage, fields of records. Element
// (i0, i1, …) lies at offset + i0·s0 + i1·s1 + …; the elements are gathered in row-major order, a band at a time, so that memory stays bounded
// whatever the size.
import { checkAborted, checkRange, joinBytes } from '../bytes/index.js'
import { type Code, failWith } from '../errors/index.js'
import { bytesPayload, lazyPayload, type Payload, readPayload } from '../model/payload.js'
import { bandsOf, stridesOf } from './bands.js'

/** A box of elements; lengths and strides are in elements. */
interface Box {
  readonly start: number
  readonly lengths: readonly number[]
  readonly strides: readonly number[]
}

/** How many bytes are put together at a time. */
const bandBytes = 1 << 23
/** A range of up to this length is read whole; a longer one only if at least a quarter of it is needed. */
const shortRange = 1 << 16
/** How many bytes of a storage without random access may be kept in memory. */
const maxBuffered = 1 << 26

export function isContiguous(shape: readonly number[], strides: readonly number[]): boolean {
  let expected = 1
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    if (shape[axis] !== 1 && strides[axis] !== expected) return false
    expected *= shape[axis]!
  }
  return true
}

/** How a storage is refused, when it is read, that has no random access and is too large for memory. */
export interface Refusal {
  readonly file: string
  readonly code: Code
}

/** Strides, and the place of the first element, are in elements of `size` bytes. The view was checked to lie inside the storage. */
export function stridedPayload(
  storage: Payload,
  shape: readonly number[],
  strides: readonly number[],
  size: number,
  refusal: Refusal,
  start = 0,
): Payload {
  const whole = simplify({ start, lengths: shape, strides })
  const count = product(shape)
  /** The elements from `from` to `to`. */
  async function* produce(from: number, to: number, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    const source = await randomAccess(storage, refusal, signal)
    for (const { offsets, sizes: lengths } of bandsOf(whole.lengths, from, to, Math.floor(bandBytes / size))) {
      checkAborted(signal, refusal.file)
      const first = offsets.reduce((sum, offset, axis) => sum + offset * whole.strides[axis]!, whole.start)
      const target = new Uint8Array(product(lengths) * size)
      const box = { start: first, lengths, strides: whole.strides }
      await fill(source, box, stridesOf(lengths), 0, target, size, signal)
      yield target
    }
  }
  const lazy = lazyPayload(count * size, (signal) => produce(0, count, signal))
  if (!storage.read) return lazy
  return {
    ...lazy,
    async read(offset, length, signal) {
      checkRange({ name: refusal.file, size: count * size }, offset, length)
      const from = Math.floor(offset / size)
      const pieces: Uint8Array[] = []
      for await (const piece of produce(from, Math.ceil((offset + length) / size), signal)) pieces.push(piece)
      return joinBytes(pieces).subarray(offset - from * size, offset - from * size + length)
    },
  }
}

type Reader = Required<Pick<Payload, 'read'>>

async function randomAccess(
  storage: Payload,
  { file, code }: Refusal,
  signal: AbortSignal | undefined,
): Promise<Reader> {
  if (storage.read) return storage as Reader
  if (storage.byteLength > maxBuffered) {
    const message = `a compressed storage of ${storage.byteLength} bytes would have to be kept in memory; the limit is ${maxBuffered}`
    failWith(code, { file, offset: 0, path: 'storage', message })
  }
  return bytesPayload(await readPayload(storage, signal)) as Reader
}

const product = (numbers: readonly number[]): number => numbers.reduce((all, each) => all * each, 1)

/** Without axes of length one, and with axes joined that run on into each other. */
function simplify({ start, lengths, strides }: Box): Box {
  const axes: { length: number; stride: number }[] = []
  for (const [i, length] of lengths.entries()) {
    const stride = strides[i]!
    if (length === 1) continue
    const last = axes.at(-1)
    if (last && last.stride === stride * length) axes[axes.length - 1] = { length: last.length * length, stride }
    else axes.push({ length, stride })
  }
  return { start, lengths: axes.map(({ length }) => length), strides: axes.map(({ stride }) => stride) }
}

/** Reads a box in as few ranges as make sense and puts its elements at `at`, spaced by `steps`. */
async function fill(
  source: Reader,
  box: Box,
  steps: readonly number[],
  at: number,
  target: Uint8Array,
  size: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { start, lengths, strides } = box
  const spans = lengths.map((length, axis) => (length - 1) * strides[axis]!)
  const bytes = (1 + spans.reduce((sum, span) => sum + span, 0)) * size
  const needed = product(lengths) * size
  if (bytes <= shortRange || (bytes <= bandBytes && bytes <= needed * 4)) {
    gather(await source.read(start * size, bytes, signal), lengths, strides, steps, at, target, size)
    return
  }
  const widest = spans.indexOf(Math.max(...spans))
  const half = Math.floor(lengths[widest]! / 2)
  const first = { ...box, lengths: lengths.with(widest, half) }
  const rest = lengths.with(widest, lengths[widest]! - half)
  const second = { start: start + half * strides[widest]!, lengths: rest, strides }
  await fill(source, first, steps, at, target, size, signal)
  await fill(source, second, steps, at + half * steps[widest]!, target, size, signal)
}

function gather(
  bytes: Uint8Array,
  lengths: readonly number[],
  strides: readonly number[],
  steps: readonly number[],
  at: number,
  target: Uint8Array,
  size: number,
): void {
  const last = lengths.length - 1
  const copy = (axis: number, from: number, to: number): void => {
    if (axis < last) {
      for (let i = 0; i < lengths[axis]!; i++) copy(axis + 1, from + i * strides[axis]!, to + i * steps[axis]!)
      return
    }
    const count = last < 0 ? 1 : lengths[last]!
    const stride = (last < 0 ? 0 : strides[last]!) * size
    const step = (last < 0 ? 0 : steps[last]!) * size
    let source = from * size
    let place = to * size
    if (stride === size && step === size) {
      target.set(bytes.subarray(source, source + count * size), place)
      return
    }
    for (let i = 0; i < count; i++, source += stride, place += step) {
      for (let k = 0; k < size; k++) target[place + k] = bytes[source + k]!
    }
  }
  copy(0, 0, at)
}
