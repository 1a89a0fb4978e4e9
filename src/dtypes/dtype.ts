// What an element type is: how many bytes a shape takes and, where its values can be decoded, a codec.
import { checkedAdd, checkedMultiply, countElements } from '../bytes/index.js'

export type DTypeKind = 'float' | 'int' | 'uint' | 'bool' | 'complex' | 'block' | 'opaque'

export interface Complex {
  readonly re: number
  readonly im: number
}

/** One element, exactly: 64-bit integers are bigints. */
export type Scalar = number | bigint | boolean | Complex

/**
 * Reads and writes whole groups of elements. `source` starts at a group boundary and holds at least the elements that the target has
 * room for; the rest of the last group is ignored when decoding and written as zero bits when encoding.
 */
export interface Codec {
  /** Bit-exact where the value is a float of 32 bits or fewer, NaN payloads included; otherwise rounded once, to nearest even. */
  toF32(source: Uint8Array, target: Float32Array): void
  /**
   * Where `toF32` gives one NaN for several codes: the same with a distinct pattern for each, which `fromF32` turns back into its code. Some
   * are signalling NaNs, so this is for copying, not for computing.
   */
  toF32Bits?(source: Uint8Array, target: Float32Array): void
  /** Exact for everything but 64-bit integers beyond 2^53. Complex numbers are not decoded. */
  toF64(source: Uint8Array, target: Float64Array): void
  /**
   * Encodes values, each rounded once to nearest even. Returns the index of the first value that the type cannot hold (an integer out
   * of range or not whole, NaN for an integer), or -1. Floats overflow to infinity where the type has one.
   */
  fromF64?(source: Float64Array, target: Uint8Array): number
  /**
   * The same from f32, for float types. Works on bit patterns: the sign and the leading payload bits of a NaN are kept, where
   * `fromF64` writes one NaN for all (what arithmetic leaves in a NaN differs between machines).
   */
  fromF32?(source: Float32Array, target: Uint8Array): number
  /** The same for blocks, where a scale that is too large becomes infinite instead of being refused, as in ggml's own programs. */
  fromF32Overflowing?(source: Float32Array, target: Uint8Array): number
  /** Encodes row by row, for block types. */
  readonly rows?: RowEncoder
  /** The element at `index`, exactly. */
  element(source: Uint8Array, index: number): Scalar
}

/** How a row is encoded other than by `fromF32`. */
export interface RowOptions {
  /** How much the error of each column counts. */
  readonly importance?: Float32Array | undefined
  /** The bytes of the reference program instead of the smallest error. */
  readonly isReference?: boolean | undefined
}

export interface RowEncoder {
  /** What importance weights are to the type: some types cannot be encoded without them. */
  readonly weights: 'ignored' | 'used' | 'required'
  /** Encodes one row of whole blocks. Returns the index of the first value that the type cannot hold, or -1. */
  encode(row: Float32Array, target: Uint8Array, options: RowOptions): number
}

/** Bytes that can be read in any order. */
export interface RegionReader {
  readonly byteLength: number
  read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array>
}

/**
 * Decodes types whose parts are stored in separate regions, such as all scales before all codes: a range of elements is then not a range of
 * bytes, and takes several reads.
 */
export interface RegionCodec {
  /** Why bytes of this length cannot be decoded, or undefined when they can. */
  refusal(shape: readonly number[], byteLength: number): string | undefined
  /** Whether files hold tensors of this length, even if they cannot be decoded. */
  isKnownSize(shape: readonly number[], byteLength: number): boolean
  /** Fills `target` with the values from row-major element `first` on. Call `refusal` first. */
  decode(
    payload: RegionReader,
    shape: readonly number[],
    first: number,
    target: Float32Array,
    signal?: AbortSignal,
  ): Promise<void>
}

/**
 * Which numbers a type can hold, precisely enough to tell whether one type can take every value of another: whole multiples of
 * 2^`step` with at most `precision` significant bits, from `lowest` to `highest`.
 */
export interface ValueSet {
  readonly lowest: number
  readonly highest: number
  readonly step: number
  readonly precision: number
  /** Absent means that zero is among the values. */
  readonly zero?: false
  readonly negativeZero?: boolean
  readonly infinity?: boolean
  readonly nan?: boolean
}

/** An element type. `dtypes` has all of them, by id. */
export interface DType<Id extends string = string> {
  /** The name used on the command line and in JSON: `f32`, `f8_e4m3`, `ggml.q4_0`. */
  readonly id: Id
  readonly kind: DTypeKind
  /** The smallest run of elements that takes whole bytes: 1 in 4 for f32, 2 in 1 for i4, 32 in 18 for ggml.q4_0. */
  readonly group: { readonly elements: number; readonly bytes: number }
  /**
   * Bytes that a tensor of this shape takes, or undefined when the shape is impossible for the type (a product beyond 2^53-1, a row that
   * is not a whole number of blocks).
   */
  byteLength(shape: readonly number[]): number | undefined
  /** Absent when the values cannot be decoded, or only with the help of the container that holds them. */
  readonly codec?: Codec
  /** Instead of a codec, for types that are not a sequence of groups. */
  readonly regions?: RegionCodec
  /** Readers accept codes that no writer makes; encoding the values that they decode to gives other codes, or none. */
  readonly hasStrayCodes?: true
  /** The type of the real and of the imaginary part; for complex types only. */
  readonly part?: DType
  /** Absent for blocks, whose values depend on each other, for complex numbers and for opaque bytes. */
  readonly values?: ValueSet
}

/** Elements follow each other without gaps over the flattened tensor: rows are not padded, only the last byte is. */
export function flatByteLength(group: DType['group']): (shape: readonly number[]) => number | undefined {
  return (shape) => {
    const count = countElements(shape)
    if (count === undefined) return undefined
    const rest = count % group.elements
    const whole = checkedMultiply((count - rest) / group.elements, group.bytes)
    return whole === undefined ? undefined : checkedAdd(whole, Math.ceil((rest * group.bytes) / group.elements))
  }
}

/** Each element takes `bytes` whole bytes. */
export function plainLayout(bytes: number): Pick<DType, 'group' | 'byteLength'> {
  const group = { elements: 1, bytes }
  return { group, byteLength: flatByteLength(group) }
}

/** Whether a tensor of this shape can have this number of bytes. True where the type does not determine it. */
export function isSizeOf(dtype: DType, shape: readonly number[], byteLength: number): boolean {
  if (dtype.regions) return dtype.regions.isKnownSize(shape, byteLength)
  const length = dtype.byteLength(shape)
  return length === undefined || length === byteLength
}
