// ModelInfo: what a runtime wants to know first, as fixed fields, and a table of further keys and values. Nothing reads this section any
// more, not even the reference, so a section that does not parse is kept as bytes.
//
// A blob is a u32 length and that many bytes, filled up to eight. Values are u32, f32 or blobs; an empty string has no blob at all.
import { Cursor, decodeUtf8, type StructValues, toSafe } from '../../../bytes/index.js'
import { strictReport, TareError } from '../../../errors/index.js'
import type { JsonValue, MetaValue } from '../../../model/index.js'
import { kvEntry, modelInfoHeader } from '../structs.js'

export const architectures = ['unknown', 'llama', 'mistral', 'qwen', 'gemma', 'granite', 'smollm3'] as const
export const ropeTypes = ['none', 'standard', 'linear', 'yarn'] as const
export const kvTypes = { u32: 1, f32: 2, str: 3 } as const

export interface ModelInfo {
  /** Numbers beyond the known names are kept as they are. */
  readonly arch: number
  readonly vocabSize: number
  readonly hiddenSize: number
  readonly layerCount: number
  readonly headCount: number
  readonly headCountKv: number
  readonly contextLength: number
  readonly trainContext: number
  readonly ropeType: number
  readonly ropeFreqBase: number
  readonly ropeScale: number
  readonly modelName: string
  readonly baseModel: string
}

export const emptyModelInfo: ModelInfo = {
  arch: 0,
  vocabSize: 0,
  hiddenSize: 0,
  layerCount: 0,
  headCount: 0,
  headCountKv: 0,
  contextLength: 0,
  trainContext: 0,
  ropeType: 0,
  ropeFreqBase: 0,
  ropeScale: 0,
  modelName: '',
  baseModel: '',
}

export interface ParsedModelInfo {
  readonly info: ModelInfo
  /** The table of keys and values. Values are u32, f32 or str. */
  readonly extras: ReadonlyMap<string, MetaValue>
  readonly flags: number
}

/** The parsed section, or why it cannot be understood. */
export function parseModelInfo(bytes: Uint8Array): ParsedModelInfo | string {
  if (bytes.byteLength < modelInfoHeader.size)
    return `${bytes.byteLength} bytes, the fixed fields take ${modelInfoHeader.size}`
  const cursor = new Cursor(bytes, strictReport(''))
  try {
    const head = modelInfoHeader.read(cursor)
    if (head.version !== 1) return `version ${head.version}, only 1 is known`
    const extras = readExtras(cursor, head)
    if (typeof extras === 'string') return extras
    const modelName = readText(cursor, head.modelNameOff)
    const baseModel = readText(cursor, head.baseModelOff)
    if (modelName === undefined || baseModel === undefined) return 'a name is not UTF-8'
    const { version: _1, flags, reserved: _2, reserved2: _3, kvCount: _4, kvOff: _5, ...rest } = head
    const { modelNameOff: _6, baseModelOff: _7, ...fields } = rest
    return { info: { ...fields, modelName, baseModel }, extras, flags }
  } catch (error) {
    if (error instanceof TareError) return 'an offset points outside of the section'
    throw error
  }
}

function readExtras(
  cursor: Cursor,
  { kvCount, kvOff }: StructValues<typeof modelInfoHeader>,
): Map<string, MetaValue> | string {
  const extras = new Map<string, MetaValue>()
  if (kvCount === 0) return extras
  const start = toSafe(kvOff)
  if (start === undefined || start + kvCount * kvEntry.size > cursor.bytes.byteLength)
    return `${kvCount} keys do not fit into the section`
  let budget = 8 * cursor.bytes.byteLength // entries may share blobs, within reason
  for (let i = 0; i < kvCount; i++) {
    cursor.seek(start + i * kvEntry.size)
    const entry = kvEntry.read(cursor)
    const key = readText(cursor, entry.keyOff)
    if (!key || extras.has(key)) return 'a key is empty, not UTF-8, or occurs twice'
    const value = readValue(cursor, entry)
    if (!value) return `the value of ${JSON.stringify(key)} has an unknown type`
    budget -= key.length + (value.type === 'str' ? value.value.length : 0)
    if (budget < 0) return 'keys and values share more bytes than the section has'
    extras.set(key, value)
  }
  return extras
}

function readValue(cursor: Cursor, { type, valueOff }: StructValues<typeof kvEntry>): MetaValue | undefined {
  if (type === kvTypes.str) {
    const bytes = readBlob(cursor, valueOff)
    const value = decodeUtf8(bytes)
    if (value !== undefined) return { type: 'str', value }
    return { type: 'str', value: new TextDecoder().decode(bytes), bytes: bytes.slice() }
  }
  cursor.seek(toSafe(valueOff) ?? Number.MAX_SAFE_INTEGER)
  if (type === kvTypes.u32) return { type: 'u32', value: cursor.u32('') }
  if (type === kvTypes.f32) return { type: 'f32', value: cursor.f32('') }
  return undefined
}

function readBlob(cursor: Cursor, offset: bigint): Uint8Array {
  if (offset === 0n) return new Uint8Array()
  cursor.seek(toSafe(offset) ?? Number.MAX_SAFE_INTEGER)
  return cursor.take(cursor.u32(''), '')
}

const readText = (cursor: Cursor, offset: bigint): string | undefined => decodeUtf8(readBlob(cursor, offset))

/** For `inspect`: names in place of numbers, nothing that is not set. */
export function describeModelInfo(info: ModelInfo): JsonValue {
  const shown: Record<string, JsonValue> = { arch: architectures[info.arch] ?? info.arch }
  for (const [key, value] of Object.entries(info)) {
    if (key === 'arch' || value === 0 || value === '') continue
    if (key === 'ropeType') shown[key] = ropeTypes[value as number] ?? value
    else shown[key] = typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
  }
  return shown
}
