// MessagePack values as JSON, and back, without loss. What JSON cannot say is put into an object with one key that starts with "$":
// byte strings, whole numbers beyond 2^53-1, floats that look like whole numbers, extension values. A map that has such a key of its own
// becomes a list of pairs. So what a file says about a tensor can be shown, carried along, and written again.
import { decodeUtf8, findInvalidUtf8, toHex } from '../../../bytes/index.js'
import type { Code } from '../../../errors/index.js'
import type { JsonValue } from '../../../model/index.js'
import { type MsgpackReader, MsgpackWriter, nameOf } from '../../../wire/msgpack/index.js'

/** The codes that a caller uses for what only it can name, and how many values it is ready to keep. */
export interface TaggedContext {
  readonly keyType: Code
  readonly utf8: Code
  readonly msgpack: Code
  /** One byte can stand for an object of fifty; a small file must not fill the memory with them. */
  values: number
}

/** More values than any honest file has for its size. */
export const maxValues = (storedLength: number): number => Math.max(1_000_000, Math.floor(storedLength / 4))

const maxDepth = 64

/** The next value of any kind. Keys must be strings, and all strings UTF-8. */
export function readTagged(reader: MsgpackReader, context: TaggedContext, depth = 0): JsonValue {
  const at = reader.offset
  if (depth > maxDepth) {
    const message = `lists and maps are nested more than ${maxDepth} deep`
    reader.report.fail(context.msgpack, { offset: at, path: reader.where(), message })
  }
  if (context.values-- <= 0) {
    const message = 'there are more values than any honest file has for its size'
    reader.report.fail(context.msgpack, { offset: at, path: reader.where(), message })
  }
  const kind = reader.next()
  switch (kind) {
    case 'nil':
      return null
    case 'bool':
      return reader.value === 1
    case 'int':
      return typeof reader.value === 'bigint' ? { $int: reader.value.toString() } : reader.value
    case 'float':
      return tagFloat(reader.value as number, reader.form === 0xca)
    case 'str':
      return readText(reader, context)
    case 'bin':
      return { $bin: toHex(reader.take(reader.length)) }
    case 'ext': {
      const type = reader.extType
      return { $ext: [type, toHex(reader.take(reader.length))] }
    }
    case 'array': {
      const items: JsonValue[] = []
      for (let left = reader.length; left > 0; left--) items.push(readTagged(reader, context, depth + 1))
      return items
    }
    case 'map':
      return readMap(reader, context, depth, reader.length)
  }
}

function readMap(reader: MsgpackReader, context: TaggedContext, depth: number, count: number): JsonValue {
  const pairs: [string, JsonValue][] = []
  for (let left = count; left > 0; left--) {
    const key = readKey(reader, context)
    pairs.push([key, readTagged(reader, context, depth + 1)])
  }
  const isPlain = new Set(pairs.map(([key]) => key)).size === count && !pairs.some(([key]) => key.startsWith('$'))
  if (!isPlain) return { $map: pairs }
  const object = Object.create(null) as Record<string, JsonValue>
  for (const [key, value] of pairs) object[key] = value
  return object
}

export function readKey(reader: MsgpackReader, context: TaggedContext): string {
  const at = reader.offset
  const kind = reader.next()
  if (kind === 'str') return readText(reader, context)
  const message = `a map key is ${nameOf(kind)}, and must be a string`
  return reader.report.fail(context.keyType, { offset: at, path: reader.where(), message })
}

/** The characters of a str whose token was just read. */
export function readText(reader: MsgpackReader, context: TaggedContext): string {
  const start = reader.offset
  const bytes = reader.take(reader.length)
  const text = decodeUtf8(bytes)
  if (text !== undefined) return text
  const at = start + findInvalidUtf8(bytes)
  return reader.report.fail(context.utf8, {
    offset: at,
    path: reader.where(),
    message: 'a string is not valid UTF-8 here',
  })
}

function tagFloat(value: number, isSingle: boolean): JsonValue {
  if (isSingle) return { $f32: floatText(value) }
  return Number.isInteger(value) || !Number.isFinite(value) ? { $float: floatText(value) } : value
}

const floatText = (value: number): string => (Object.is(value, -0) ? '-0' : String(value))

export function writeTagged(writer: MsgpackWriter, value: JsonValue): void {
  if (value === null) writer.nil()
  else if (typeof value === 'boolean') writer.bool(value)
  else if (typeof value === 'string') writer.str(value)
  else if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) writer.int(value)
    else writer.f64(value)
  } else if (Array.isArray(value)) {
    writer.arrayHeader(value.length)
    for (const item of value as readonly JsonValue[]) writeTagged(writer, item)
  } else if (!writeSpecial(writer, value as Readonly<Record<string, JsonValue>>)) {
    writePairs(writer, Object.entries(value))
  }
}

export function encodeTagged(value: JsonValue): Uint8Array {
  const writer = new MsgpackWriter()
  writeTagged(writer, value)
  return writer.finish()
}

function writePairs(writer: MsgpackWriter, pairs: readonly (readonly [string, JsonValue])[]): void {
  writer.mapHeader(pairs.length)
  for (const [key, value] of pairs) {
    writer.str(key)
    writeTagged(writer, value)
  }
}

/** Of the objects with one key that starts with "$", those that stand for something; all others are maps like any other. */
function writeSpecial(writer: MsgpackWriter, value: Readonly<Record<string, JsonValue>>): boolean {
  const keys = Object.keys(value)
  const tag = keys.length === 1 && keys[0]!.startsWith('$') ? keys[0] : undefined
  const content = tag === undefined ? undefined : value[tag]
  if (tag === '$int' && isWhole(content)) writer.int(BigInt(content))
  else if (tag === '$float' && typeof content === 'string') writer.f64(Number(content))
  else if (tag === '$f32' && typeof content === 'string') writer.f32(Number(content))
  else if (tag === '$bin' && isHex(content)) writer.bin(fromHex(content))
  else if (tag === '$ext' && isExt(content)) writer.ext(content[0], fromHex(content[1]))
  else if (tag === '$map' && isPairs(content)) writePairs(writer, content)
  else return false
  return true
}

/** A whole number that MessagePack has room for. */
function isWhole(content: JsonValue | undefined): content is string {
  if (typeof content !== 'string' || !/^-?\d{1,20}$/.test(content)) return false
  const value = BigInt(content)
  return value >= -(2n ** 63n) && value < 2n ** 64n
}

const isHex = (content: JsonValue | undefined): content is string =>
  typeof content === 'string' && /^([0-9a-f]{2})*$/i.test(content)

function isExt(content: JsonValue | undefined): content is [number, string] {
  if (!Array.isArray(content) || content.length !== 2) return false
  const [type, bytes] = content as readonly JsonValue[]
  return Number.isInteger(type) && (type as number) >= -128 && (type as number) <= 127 && isHex(bytes)
}

const isPairs = (content: JsonValue | undefined): content is [string, JsonValue][] =>
  Array.isArray(content) &&
  content.every((pair) => Array.isArray(pair) && pair.length === 2 && typeof pair[0] === 'string')

/** Whether this can be written and read again, also where it did not come from a file: nested no deeper than readers take. */
export function isTagged(value: JsonValue, depth = 0): boolean {
  if (depth > maxDepth) return false
  if (typeof value !== 'object' || value === null) return typeof value !== 'number' || Number.isFinite(value)
  const pairs = '$map' in value ? value.$map : undefined
  const items = isPairs(pairs) ? pairs.map(([, item]) => item) : Object.values(value)
  return items.every((item) => isTagged(item as JsonValue, depth + 1))
}

export function fromHex(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length / 2)
  for (let i = 0; i < bytes.byteLength; i++) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)
  return bytes
}
