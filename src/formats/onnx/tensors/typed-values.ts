// Values in a typed field, turned into the bytes that `raw_data` would hold. Protobuf lets one field be packed, not packed, or both in
// turn, with other fields in between, so the message is walked again and its pieces are taken as they come.
import { type ByteSource, streamRange } from '../../../bytes/index.js'
import type { Range } from '../../../bytes/ranges.js'
import { type Code, failWith, strictReport } from '../../../errors/index.js'
import { packers } from '../../../kernels/numbers/plain/bit-packing.js'
import { lazyPayload, type Payload } from '../../../model/index.js'
import { ProtobufReader, protobufCodes } from '../../../wire/protobuf/protobuf.js'
import { VarintDecoder } from '../../../wire/protobuf/varints.js'
import { ownCodes as codes } from '../codes.js'
import { type DataType, fieldNames } from './data-types.js'

export interface TypedValues {
  readonly source: ByteSource
  /** Where the tensor's message lies. */
  readonly pieces: readonly Range[]
  readonly type: DataType
  /** How many entries the field must have, and how many bytes they make. */
  readonly entries: number
  readonly byteLength: number
  readonly path: string
}

/** Bytes of packed varints that are decoded at a time, and numbers that are gathered when they come one by one. */
const step = 1 << 16

export const typedPayload = (values: TypedValues): Payload =>
  lazyPayload(values.byteLength, (signal) => decodeTyped(values, newDecoder(values.type), signal))

export const newDecoder = ({ width, bounds }: DataType): VarintDecoder => new VarintDecoder(width, bounds)

/** Ends with an error when the field has more or fewer values than the shape wants. */
export function decodeTyped(
  values: TypedValues,
  decoder: VarintDecoder,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const { source, type, entries, path } = values
  const fail = (code: Code, message: string): never => {
    const place = { file: source.name, offset: values.pieces[0]?.start ?? 0, path: pathOf(path, type) }
    return failWith(code, { ...place, message })
  }
  const decode = type.isVarint ? decodeVarints : copyFixed
  const pieces = counted(decode(values, decoder, fail, signal), entries, type, fail)
  return type.isSixBit ? packSixBits(pieces) : pieces
}

export const pathOf = (path: string, { field }: DataType): string => `${path}.${fieldNames.get(field)}`

type Fail = (code: Code, message: string) => never
type Pieces = AsyncGenerator<Uint8Array, void, void>

async function* decodeVarints(values: TypedValues, decoder: VarintDecoder, fail: Fail, signal?: AbortSignal): Pieces {
  const { width, field } = values.type
  const target = new Uint8Array(step * width)
  const view = new DataView(target.buffer)
  let filled = 0
  for await (const reader of fieldsOf(values, field, signal)) {
    if (reader.wire === 0) {
      decoder.put(reader.low, reader.high, view, filled)
      filled += width
      if (filled < target.byteLength) continue
    }
    if (filled > 0) yield target.subarray(0, filled)
    filled = 0
    if (reader.wire === 0) continue
    const range = { source: values.source, offset: reader.start, length: reader.length }
    for await (const chunk of streamRange(range, step, signal)) {
      const made = decoder.decode(chunk, view)
      if (made === undefined) fail(protobufCodes.varint, 'a value takes more than ten bytes or 64 bits')
      else if (made > 0) yield target.subarray(0, made)
    }
    if (!decoder.isBetween) fail(protobufCodes.packed, 'a list ends inside a value')
  }
  if (filled > 0) yield target.subarray(0, filled)
}

async function* copyFixed(values: TypedValues, _: VarintDecoder, _fail: Fail, signal?: AbortSignal): Pieces {
  const target = new Uint8Array(step * values.type.width)
  let filled = 0
  for await (const reader of fieldsOf(values, values.type.field, signal)) {
    if (reader.wire !== 2) {
      target.set(reader.fixedBytes(), filled)
      filled += reader.length
      if (filled < target.byteLength) continue
    }
    if (filled > 0) yield target.subarray(0, filled)
    filled = 0
    if (reader.wire === 2) {
      yield* streamRange({ source: values.source, offset: reader.start, length: reader.length }, step, signal)
    }
  }
  if (filled > 0) yield target.subarray(0, filled)
}

/** Stops at each field of the number; wire types that do not fit it are skipped, as by the walk that found the tensor. */
async function* fieldsOf(
  { source, pieces, path, type }: TypedValues,
  field: number,
  signal?: AbortSignal,
): AsyncGenerator<ProtobufReader, void, void> {
  const reader = new ProtobufReader(source, strictReport(source.name), { signal })
  const single = type.isVarint ? 0 : type.width === 4 ? 5 : 1
  for (const { start, end } of pieces) {
    for (let next = start; next < end; ) {
      const ready = reader.readField(next, end, path)
      if (ready) await ready
      next = reader.end
      if (reader.field === field && (reader.wire === 2 || reader.wire === single)) yield reader
    }
  }
}

async function* counted(pieces: Pieces, entries: number, { width }: DataType, fail: Fail): Pieces {
  let left = entries * width
  for await (const piece of pieces) {
    left -= piece.byteLength
    if (left < 0) fail(codes.count, `there are more than ${entries} values, which is what the shape wants`)
    yield piece
  }
  if (left > 0) fail(codes.count, `there are ${entries - left / width} values, but the shape wants ${entries}`)
}

/** Codes of six bits, one to a byte, become four in three bytes. */
async function* packSixBits(pieces: Pieces): Pieces {
  let rest = new Uint8Array(0)
  for await (const piece of pieces) {
    const codesNow = new Uint8Array(rest.byteLength + piece.byteLength)
    codesNow.set(rest)
    codesNow.set(piece, rest.byteLength)
    const whole = codesNow.byteLength - (codesNow.byteLength % 4)
    if (whole > 0) yield pack(codesNow.subarray(0, whole))
    rest = codesNow.slice(whole)
  }
  if (rest.byteLength > 0) yield pack(rest)
}

function pack(codesNow: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(Math.ceil((codesNow.byteLength * 6) / 8))
  packers[6](
    codesNow.map((code) => code % 64),
    bytes,
  )
  return bytes
}
