// Varints, and packed lists of them. Lists are decoded piece by piece; a piece may end in the middle of a number.

/** Bytes of the longest varint. */
export const maxVarint = 10

/** The number that begins at `start`, for a guess at what bytes are; undefined when it does not end there. Beyond 2^53 it is not exact. */
export function varintAt(
  bytes: Uint8Array,
  start: number,
): { readonly value: number; readonly end: number } | undefined {
  let value = 0
  for (let i = 0; i < maxVarint; i++) {
    const byte = bytes[start + i]
    if (byte === undefined) return undefined
    value += (byte % 0x80) * 2 ** (7 * i)
    if (byte < 0x80) return { value, end: start + i + 1 }
  }
  return undefined
}

/** How many varints the bytes are; undefined when they do not end with the end of one, or hold one of more than ten bytes. */
export function countVarints(bytes: Uint8Array): number | undefined {
  let count = 0
  let run = 0
  for (const byte of bytes) {
    if (++run > maxVarint) return undefined
    if (byte < 0x80) {
      count++
      run = 0
    }
  }
  return run === 0 ? count : undefined
}

/** The values of a short list as int64; undefined when they do not end with the end of one. */
export function decodeVarints(bytes: Uint8Array): bigint[] | undefined {
  if (countVarints(bytes) === undefined) return undefined
  const values: bigint[] = []
  let value = 0n
  let shift = 0n
  for (const byte of bytes) {
    value += BigInt(byte % 0x80) * 2n ** shift
    shift += 7n
    if (byte >= 0x80) continue
    values.push(BigInt.asIntN(64, value))
    value = 0n
    shift = 0n
  }
  return values
}

/** Where decoded integers go: `width` bytes each, little-endian, higher bits are dropped. */
export type IntegerWidth = 1 | 2 | 4 | 8

/** What integers may be, where fewer than 64 bits count. */
export type IntegerBounds = readonly [min: number, max: number]

export class VarintDecoder {
  /** Numbers that were decoded so far. */
  count = 0
  /** The first number that was out of range, and its position in the list. */
  outOfRange: { readonly position: number; readonly value: bigint } | undefined
  readonly #width: IntegerWidth
  readonly #bounds: IntegerBounds | undefined
  readonly #isSigned: boolean
  #low = 0
  #high = 0
  #shift = 0

  /** Where the bounds fit an int32, the low 32 bits are taken as one: that is what protobuf does with negative numbers of five bytes. */
  constructor(width: IntegerWidth, bounds?: IntegerBounds) {
    this.#width = width
    this.#bounds = bounds
    this.#isSigned = bounds !== undefined && bounds[1] < 2 ** 31
  }

  /** Whether the last number is complete. */
  get isBetween(): boolean {
    return this.#shift === 0
  }

  /**
   * Decodes a piece into `target`, which has room for as many numbers as the piece has bytes; gives the number of bytes that were
   * written, or undefined when one has more than ten bytes or 64 bits.
   */
  decode(bytes: Uint8Array, target: DataView): number | undefined {
    let at = 0
    for (let i = 0; i < bytes.byteLength; i++) {
      const byte = bytes[i]!
      if (byte < 0x80 && this.#shift === 0) {
        this.put(byte, 0, target, at)
        at += this.#width
        continue
      }
      const bits = byte & 0x7f
      const shift = this.#shift
      if (shift < 32) this.#low = (this.#low | (bits << shift)) >>> 0
      if (shift === 28) this.#high = bits >>> 4
      else if (shift > 28) this.#high = (this.#high | (bits << (shift - 32))) >>> 0
      if (shift === 63 && byte > 1) return undefined
      this.#shift = shift + 7
      if (byte >= 0x80) continue
      this.put(this.#low, this.#high, target, at)
      at += this.#width
      this.#low = 0
      this.#high = 0
      this.#shift = 0
    }
    return at
  }

  /** Writes one number that was decoded elsewhere. */
  put(low: number, high: number, target: DataView, at: number): void {
    if (this.#bounds && this.outOfRange === undefined && !this.#isInRange(low, high))
      this.outOfRange = { position: this.count, value: BigInt.asIntN(64, BigInt(high) * 0x1_0000_0000n + BigInt(low)) }
    this.count++
    if (this.#width === 1) target.setUint8(at, low)
    else if (this.#width === 2) target.setUint16(at, low, true)
    else target.setUint32(at, low, true)
    if (this.#width === 8) target.setUint32(at + 4, high, true)
  }

  #isInRange(low: number, high: number): boolean {
    const [min, max] = this.#bounds!
    const isNegative = this.#isSigned && low >= 2 ** 31 && high === 0xffff_ffff
    if (high !== 0 && !isNegative) return false
    const value = this.#isSigned ? low | 0 : low
    return value >= min && value <= max
  }
}
