// Keys, and values that are no arrays: numbers, texts and bytes, which become metadata.
import { decodeUtf8, findInvalidUtf8 } from '../../bytes/index.js'
import { c128 } from '../../dtypes/index.js'
import { strictReport, TareError } from '../../errors/index.js'
import { type MetaValue, text } from '../../model/index.js'
import { decodeMsgpack, type MsgpackKind, type MsgpackReader, msgpackCodes, nameOf } from '../../wire/msgpack/index.js'
import { complexType } from './array.js'
import { codes } from './codes.js'
import type { LeafValue } from './leaf.js'

/** Flax writes texts; its reader takes numbers as well. */
export function readKey(reader: MsgpackReader): string {
  const at = reader.offset
  const kind = reader.next()
  if (kind === 'int') return String(reader.value)
  if (kind === 'bool') return String(reader.value === 1)
  if (kind === 'nil') return 'null'
  if (kind !== 'str') {
    const details = { offset: at, path: reader.where(), message: `${nameOf(kind)} cannot be a key here` }
    return reader.report.fail(msgpackCodes.key, details)
  }
  const found = reader.takeText(reader.length)
  return (
    found ?? reader.report.fail(msgpackCodes.utf8, { offset: at, path: reader.where(), message: 'a key is not UTF-8' })
  )
}

/** The kind was read already. Speaks up only when the value was taken, so that it can be read again until then. */
export function readMeta(reader: MsgpackReader, kind: MsgpackKind): LeafValue {
  const meta = (value: MetaValue): LeafValue => ({ kind: 'meta', value })
  const { value, form, length, extType } = reader
  switch (kind) {
    case 'nil':
      return meta({ type: 'null' })
    case 'bool':
      return meta({ type: 'bool', value: value === 1 })
    case 'int':
      return meta({ type: value > maxI64 ? 'u64' : 'i64', value })
    case 'float':
      return meta({ type: form === 0xca ? 'f32' : 'f64', value: Number(value) })
    case 'str':
      return readText(reader, length)
    case 'ext':
      return readExtension(reader, length, extType)
    default:
      return meta({ type: 'bytes', value: reader.take(length).slice() })
  }
}

const maxI64 = 2n ** 63n - 1n

function readText(reader: MsgpackReader, length: number): LeafValue {
  const start = reader.offset
  const bytes = reader.take(length)
  const found = decodeUtf8(bytes)
  if (found !== undefined) return { kind: 'meta', value: text(found) }
  const at = findInvalidUtf8(bytes)
  const message = `byte ${at} of the text is not UTF-8`
  reader.report.report(msgpackCodes.utf8, { offset: start + at, path: reader.where(), message })
  return { kind: 'bad', subject: 'metadata', reason: message }
}

function readExtension(reader: MsgpackReader, length: number, type: number): LeafValue {
  const details = { offset: reader.offset, length, path: reader.where() }
  const bytes = reader.take(length).slice()
  if (type !== complexType) {
    reader.report.report(codes.extension, { ...details, message: `it has the extension type ${type}` })
    return { kind: 'meta', value: { type: 'bytes', value: bytes } }
  }
  const parts = complexParts(bytes)
  if (parts) return { kind: 'meta', value: { type: 'ndarray', dtype: c128, shape: [], value: parts } }
  const message = 'it is not a list of two numbers'
  reader.report.report(codes.complex, { ...details, message })
  return { kind: 'bad', subject: 'metadata', reason: message }
}

function complexParts(bytes: Uint8Array): Uint8Array | undefined {
  try {
    const parts = decodeMsgpack(bytes, strictReport(''))
    if (!Array.isArray(parts) || parts.length !== 2 || !parts.every((part) => typeof part === 'number'))
      return undefined
    const view = new DataView(new ArrayBuffer(16))
    for (const [i, part] of parts.entries()) view.setFloat64(8 * i, part, true)
    return new Uint8Array(view.buffer)
  } catch (error) {
    if (error instanceof TareError) return undefined
    throw error
  }
}
