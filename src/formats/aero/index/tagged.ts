// MessagePack values as JSON, and back, without loss. A value that JSON has no form for becomes an object with one key that starts with "$":
// byte strings, whole numbers beyond 2^53-1, floats that look like whole numbers, extension values. A map with a "$" key of its own
// becomes a list of pairs. So what a file says about a tensor can be shown, carried along, and written again.
import { findInvalidUtf8, fromHex, toHex } from '../../../bytes/index.js'
import type { Code } from '../../../errors/index.js'
import type { JsonValue } from '../../../model/index.js'
import { type MsgpackReader, MsgpackWriter, nameOf } from '../../../wire/msgpack/index.js'

/** The caller's codes for what can be wrong, and how many values it is ready to keep. */
export interface TaggedContext {
  readonly keyType: Code
  readonly utf8: Code
  readonly msgpack: Code
  /** A value of one byte can take fifty in memory; a small file must not fill the memory with them. */
  values: number
}

/** No honest file has more values for its size. */
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

/** `guess`: a key that is likely, and then need not be decoded. */
export function readKey(reader: MsgpackReader, context: TaggedContext, guess?: string): string {
  const at = reader.offset
  const kind = reader.next()
  if (kind === 'str') return readText(reader, context, guess)
  const message = `a map key is ${nameOf(kind)}, and must be a string`
  return reader.report.fail(context.keyType, { offset: at, path: reader.where(), message })
}

/** The characters of a str whose token was just read. */
export function readText(reader: MsgpackReader, context: TaggedContext, guess?: string): string {
  const text = reader.takeText(reader.length, guess)
  if (text !== undefined) return text
  const start = reader.offset
  const at = start + findInvalidUtf8(reader.take(reader.length))
  return reader.report.fail(context.utf8, {
    offset: at,
    path: reader.where(),
    message: 'a string is not valid UTF-8 here',
  })
}

export function skipValue(reader: MsgpackReader): void {
  for (let left = 1; left > 0; left--) {
    const kind = reader.next()
    if (kind === 'str' || kind === 'bin' || kind === 'ext') reader.take(reader.length)
    else if (kind === 'array') left += reader.length
    else if (kind === 'map') left += 2 * reader.length
  }
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
  } else writeObject(writer, value as Readonly<Record<string, JsonValue>>)
}

export function encodeTagged(value: JsonValue): Uint8Array {
  const writer = new MsgpackWriter()
  writeTagged(writer, value)
  return writer.finish()
}

function writeObject(writer: MsgpackWriter, value: Readonly<Record<string, JsonValue>>): void {
  const tag = tagOf(value)
  const content = tag && value[tag]
  if (tag === '$int') writer.int(BigInt(content as string))
  else if (tag === '$float') writer.f64(Number(content))
  else if (tag === '$f32') writer.f32(Number(content))
  else if (tag === '$bin') writer.bin(fromHex(content as string))
  else if (tag === '$ext') {
    const [type, bytes] = content as unknown as [number, string]
    writer.ext(type, fromHex(bytes))
  } else {
    const pairs = tag === '$map' ? (content as unknown as [string, JsonValue][]) : Object.entries(value)
    writer.mapHeader(pairs.length)
    for (const [key, item] of pairs) {
      writer.str(key)
      writeTagged(writer, item)
    }
  }
}

const contents: ReadonlyMap<string, (content: JsonValue) => boolean> = new Map([
  ['$int', isWhole],
  ['$float', (content) => typeof content === 'string'],
  ['$f32', (content) => typeof content === 'string'],
  ['$bin', isHex],
  ['$ext', isExt],
  ['$map', isPairs],
])

/** The one key of an object that stands for something else than a map; undefined for all others. */
function tagOf(value: Readonly<Record<string, JsonValue>>): string | undefined {
  const [tag = '', ...others] = Object.keys(value)
  return others.length === 0 && contents.get(tag)?.(value[tag]!) ? tag : undefined
}

/** A whole number that MessagePack has room for. */
function isWhole(content: JsonValue): boolean {
  if (typeof content !== 'string' || !/^-?\d{1,20}$/.test(content)) return false
  const value = BigInt(content)
  return value >= -(2n ** 63n) && value < 2n ** 64n
}

function isHex(content: JsonValue): boolean {
  return typeof content === 'string' && /^([0-9a-f]{2})*$/i.test(content)
}

function isExt(content: JsonValue): boolean {
  if (!Array.isArray(content) || content.length !== 2) return false
  const [type, bytes] = content as readonly JsonValue[] as [JsonValue, JsonValue]
  return Number.isInteger(type) && (type as number) >= -128 && (type as number) <= 127 && isHex(bytes)
}

function isPairs(content: JsonValue): boolean {
  const isPair = (pair: unknown): boolean => Array.isArray(pair) && pair.length === 2 && typeof pair[0] === 'string'
  return Array.isArray(content) && content.every(isPair)
}

/** Whether a value that may come from elsewhere can be written and read again: it is nested no deeper than readers take. */
export function isTagged(value: JsonValue, depth = 0): boolean {
  if (depth > maxDepth) return false
  if (typeof value !== 'object' || value === null) return typeof value !== 'number' || Number.isFinite(value)
  const tag = Array.isArray(value) ? undefined : tagOf(value as Readonly<Record<string, JsonValue>>)
  if (tag !== undefined && tag !== '$map') return true
  const items = tag ? (Object.values(value)[0] as [string, JsonValue][]).map(([, item]) => item) : Object.values(value)
  return items.every((item) => isTagged(item as JsonValue, depth + 1))
}
