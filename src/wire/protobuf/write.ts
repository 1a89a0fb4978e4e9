// Writing protobuf messages. A message is a sequence of fields, each a tag and a value; a nested message is preceded by its length, so
// lengths must be known from the inside out. Large values need not be in memory for that: a rope holds pieces, and a piece is either
// bytes or anything else that knows how many bytes it will be.
import { encodeUtf8, joinBytes } from '../../bytes/index.js'

export interface Sized {
  readonly byteLength: number
}

/** Bytes to come, in order. */
export interface Rope<T extends Sized = never> {
  readonly byteLength: number
  readonly pieces: readonly (Uint8Array | T)[]
}

/** A varint field: an integer, an enum or a boolean. Negative numbers take ten bytes, as two's complement of 64 bits. */
export function protoInt(field: number, value: number | bigint): Rope {
  return ropeOf([tag(field, 0), varint(BigInt.asUintN(64, BigInt(value)))])
}

export function protoFloat(field: number, value: number): Rope {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setFloat32(0, value, true)
  return ropeOf([tag(field, 5), bytes])
}

export const protoText = (field: number, text: string): Rope => protoBytes<never>(field, encodeUtf8(text))

/** A field of bytes, or of something that will be bytes. */
export function protoBytes<T extends Sized = never>(field: number, value: Uint8Array | T): Rope<T> {
  return ropeOf<T>([tag(field, 2), varint(BigInt(value.byteLength)), value])
}

/** What stands before the content of a nested message of this length. */
export const protoPrefix = (field: number, byteLength: number): Uint8Array =>
  joinBytes([tag(field, 2), varint(BigInt(byteLength))])

/** A nested message of the given fields. */
export function protoMessage<T extends Sized = never>(field: number, fields: readonly Rope<T>[]): Rope<T> {
  const content = joinRopes(fields)
  return joinRopes<T>([ropeOf([tag(field, 2), varint(BigInt(content.byteLength))]), content])
}

/** Integers in one packed field. */
export function protoPacked(field: number, values: readonly (number | bigint)[]): Rope {
  return protoBytes<never>(field, joinBytes(values.map((value) => varint(BigInt.asUintN(64, BigInt(value))))))
}

/** The fields one after the other. Neighbouring pieces of bytes become one. */
export function joinRopes<T extends Sized = never>(ropes: readonly Rope<T>[]): Rope<T> {
  const pieces: (Uint8Array | T)[] = []
  let pending: Uint8Array[] = []
  const flush = (): void => {
    if (pending.length > 0) pieces.push(pending.length === 1 ? pending[0]! : joinBytes(pending))
    pending = []
  }
  let byteLength = 0
  for (const rope of ropes) {
    byteLength += rope.byteLength
    for (const piece of rope.pieces) {
      if (piece instanceof Uint8Array) pending.push(piece)
      else {
        flush()
        pieces.push(piece)
      }
    }
  }
  flush()
  return { byteLength, pieces }
}

function ropeOf<T extends Sized = never>(pieces: readonly (Uint8Array | NoInfer<T>)[]): Rope<T> {
  return { byteLength: pieces.reduce((sum, piece) => sum + piece.byteLength, 0), pieces }
}

const tag = (field: number, wireType: 0 | 2 | 5): Uint8Array => varint(BigInt(field * 8 + wireType))

/** Seven bits to a byte, the lowest first; the highest bit says that more follow. */
function varint(value: bigint): Uint8Array {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80n) {
    bytes.push(Number(rest % 0x80n) + 0x80)
    rest /= 0x80n
  }
  bytes.push(Number(rest))
  return Uint8Array.from(bytes)
}
