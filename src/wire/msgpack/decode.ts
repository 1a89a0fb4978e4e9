// MessagePack as a tree, for the small documents inside containers. Maps become Maps, so no key can reach a prototype; a key that
// occurs twice is an error. Whole numbers that a double cannot hold exactly come as bigints.
import { decodeUtf8, findInvalidUtf8 } from '../../bytes/index.js'
import type { Report } from '../../errors/index.js'
import { memberPath } from '../json/json.js'
import { msgpackCodes } from './codes.js'
import type { MsgpackKey, MsgpackMap, MsgpackNode, MsgpackRawText } from './node.js'
import { MsgpackReader, nameOf } from './reader.js'

export interface DecodeMsgpackOptions {
  /** Offset of the first byte in the file. */
  readonly base?: number
  /** The path of the value in findings. */
  readonly path?: string
  readonly maxDepth?: number
  /** Floats come as `MsgpackFloat`, so that encoding them again gives the same bytes. */
  readonly keepFloats?: boolean
  /** Strings that are not UTF-8 come as `MsgpackRawText`; without this they are an error. */
  readonly keepRawText?: boolean
  /** Bytes behind the value are left alone; without this they are an error. */
  readonly allowTrailing?: boolean
}

/** The one value that the bytes hold. Byte strings are views into them. */
export function decodeMsgpack(bytes: Uint8Array, report: Report, options: DecodeMsgpackOptions = {}): MsgpackNode {
  const state: DecodeState = { options, path: options.path ?? '', depth: 0 }
  const base = options.base === undefined ? {} : { base: options.base }
  const reader = new MsgpackReader(bytes, report, { ...base, where: () => state.path })
  const value = readValue(reader, state)
  if (reader.remaining > 0 && !options.allowTrailing) {
    report.fail(msgpackCodes['trailing-bytes'], {
      offset: reader.offset,
      length: reader.remaining,
      path: state.path,
      message: `${reader.remaining} bytes follow the value`,
    })
  }
  return value
}

interface DecodeState {
  readonly options: DecodeMsgpackOptions
  path: string
  depth: number
}

// Recursion is safe: `enter` stops at the depth limit.
function readValue(reader: MsgpackReader, state: DecodeState): MsgpackNode {
  const kind = reader.next()
  switch (kind) {
    case 'nil':
      return null
    case 'bool':
      return reader.value === 1
    case 'int':
      return reader.value
    case 'float': {
      const value = reader.value as number
      return state.options.keepFloats ? { float: reader.form === 0xca ? 32 : 64, value } : value
    }
    case 'str':
      return readText(reader, state, state.options.keepRawText ?? false)
    case 'bin':
      return reader.take(reader.length)
    case 'ext': {
      const ext = reader.extType
      return { ext, data: reader.take(reader.length) }
    }
    case 'array':
      return readArray(reader, state, reader.length)
    case 'map':
      return readMap(reader, state, reader.length)
  }
}

function readText(reader: MsgpackReader, state: DecodeState, keepRaw: boolean): string | MsgpackRawText {
  const start = reader.offset
  const bytes = reader.take(reader.length)
  const text = decodeUtf8(bytes)
  if (text !== undefined) return text
  if (keepRaw) return { text: bytes }
  const at = findInvalidUtf8(bytes)
  return reader.report.fail(msgpackCodes.utf8, {
    offset: start + at,
    path: state.path,
    message: `byte ${at} of the string is not UTF-8`,
  })
}

function readArray(reader: MsgpackReader, state: DecodeState, count: number): MsgpackNode[] {
  const outer = enter(reader, state)
  const items: MsgpackNode[] = []
  for (let i = 0; i < count; i++) {
    state.path = `${outer}[${i}]`
    items.push(readValue(reader, state))
  }
  leave(state, outer)
  return items
}

function readMap(reader: MsgpackReader, state: DecodeState, count: number): MsgpackMap {
  const outer = enter(reader, state)
  const map: MsgpackMap = new Map()
  for (let i = 0; i < count; i++) {
    state.path = outer
    const at = reader.offset
    const key = readKey(reader, state)
    state.path = typeof key === 'string' ? memberPath(outer, key) : `${outer}[${String(key)}]`
    if (map.has(key)) {
      const message = `the key ${typeof key === 'string' ? JSON.stringify(key) : String(key)} occurs twice in one map`
      reader.report.fail(msgpackCodes['duplicate-key'], { offset: at, path: state.path, message })
    }
    map.set(key, readValue(reader, state))
  }
  leave(state, outer)
  return map
}

function readKey(reader: MsgpackReader, state: DecodeState): MsgpackKey {
  const at = reader.offset
  const kind = reader.next()
  if (kind === 'str') return readText(reader, state, false) as string
  if (kind === 'int') return reader.value
  if (kind === 'bool') return reader.value === 1
  if (kind === 'nil') return null
  return reader.report.fail(msgpackCodes.key, {
    offset: at,
    path: state.path,
    message: `${nameOf(kind)} cannot be a key here`,
  })
}

function enter(reader: MsgpackReader, state: DecodeState): string {
  const max = state.options.maxDepth ?? 64
  if (state.depth++ >= max) {
    const message = `lists and maps are nested more than ${max} deep`
    reader.report.fail(msgpackCodes.depth, { offset: reader.offset, path: state.path, message })
  }
  return state.path
}

function leave(state: DecodeState, path: string): void {
  state.path = path
  state.depth--
}
