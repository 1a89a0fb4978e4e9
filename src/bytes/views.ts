// Typed-array views over bytes that may start anywhere. Files are little-endian, and so is practically every machine that runs a
// JavaScript engine; a big-endian host gets swapped copies, and an unaligned start a plain copy.

export const littleEndianHost = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1

export interface ViewType<T> {
  readonly BYTES_PER_ELEMENT: number
  new (buffer: ArrayBufferLike, offset: number, length: number): T
}

/** The first `count` values of `source`, to be read only: a view where the alignment allows it, otherwise a copy. */
export function viewOf<T>(type: ViewType<T>, source: Uint8Array, count: number): T {
  const size = type.BYTES_PER_ELEMENT
  requireBytes(source, count * size)
  if (littleEndianHost && source.byteOffset % size === 0) return new type(source.buffer, source.byteOffset, count)
  const copy = new Uint8Array(count * size)
  copy.set(source.subarray(0, count * size))
  if (!littleEndianHost) swapBytes(copy, size)
  return new type(copy.buffer, 0, count)
}

/** Lets `fill` write `count` values to the start of `target`, and returns what `fill` returns. */
export function fillView<T, R>(type: ViewType<T>, target: Uint8Array, count: number, fill: (view: T) => R): R {
  const size = type.BYTES_PER_ELEMENT
  requireBytes(target, count * size)
  if (littleEndianHost && target.byteOffset % size === 0) return fill(new type(target.buffer, target.byteOffset, count))
  const copy = new Uint8Array(count * size)
  const result = fill(new type(copy.buffer, 0, count))
  if (!littleEndianHost) swapBytes(copy, size)
  target.set(copy)
  return result
}

/** Copies the bit patterns of a typed array to little-endian bytes. */
export function writeLittleEndian(source: Float32Array | Float64Array, target: Uint8Array): void {
  requireBytes(target, source.byteLength)
  target.set(bytesOf(source))
  if (!littleEndianHost) swapBytes(target.subarray(0, source.byteLength), source.BYTES_PER_ELEMENT)
}

/** Copies little-endian bytes to a typed array as they are, so that no NaN changes on the way. */
export function readLittleEndian(source: Uint8Array, target: Float32Array | Float64Array): void {
  requireBytes(source, target.byteLength)
  const bytes = bytesOf(target)
  bytes.set(source.subarray(0, target.byteLength))
  if (!littleEndianHost) swapBytes(bytes, target.BYTES_PER_ELEMENT)
}

/** The bit patterns behind an array of f32. */
export function bitsOf(values: Float32Array): Uint32Array {
  return new Uint32Array(values.buffer, values.byteOffset, values.length)
}

/** The bytes behind any view. */
export const bytesOf = (view: ArrayBufferView): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength)

export function requireBytes(bytes: Uint8Array, size: number): void {
  if (bytes.byteLength < size) throw new RangeError(`${size} bytes are needed, ${bytes.byteLength} were given`)
}

/** Reverses every run of `size` bytes in place. */
export function swapBytes(bytes: Uint8Array, size: number): void {
  for (let at = 0; at + size <= bytes.length; at += size) bytes.subarray(at, at + size).reverse()
}
