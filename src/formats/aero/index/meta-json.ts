// The JSON metadata chunk (MJSN): one free-form object, whose members are the model's metadata. Each value keeps the text that it was read
// from, so that numbers and nested values look exactly the same when they are written again.

import { encodeUtf8 } from '../../../bytes/index.js'
import { toPlainJson } from '../../../content/plain-json.js'
import { failWith, jsonCodes, type Report, strictReport, TareError, writeCodes } from '../../../errors/index.js'
import type { Fit, JsonValue, Metadata, MetaValue } from '../../../model/index.js'
import { type JsonNode, JsonScanner, parseJson } from '../../../wire/index.js'
import { codes } from '../codes.js'
import { type ChunkContent, placedReport } from '../control/chunk.js'

/** In characters: lists and objects take many times as much in memory. */
const maxNested = 8 * 2 ** 20

/** Where a value keeps its text. Not enumerable, so it counts for nothing when values are compared or shown. */
const rawText = Symbol('the text that the value was read from')

/** The metadata, or undefined (with a warning) when the chunk is not a JSON object. */
export function parseMetaJson(content: ChunkContent, report: Report): Map<string, MetaValue> | undefined {
  try {
    return parseMembers(content.bytes)
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    const { message, offset, path } = error.finding
    const place = { ...(offset !== undefined && { offset }), ...(path && { path: `meta.${path}` }) }
    placedReport(report, content.chunk).report(codes['mjsn-json'], { path: 'meta', ...place, message })
    return undefined
  }
}

/** The members of a JSON object as metadata; throws when the text is anything else. */
export function parseMembers(bytes: Uint8Array): Map<string, MetaValue> {
  const report = strictReport('')
  const scanner = new JsonScanner(bytes, report)
  const metadata = new Map<string, MetaValue>()
  let nested = 0
  scanner.beginObject('')
  for (;;) {
    const at = scanner.index
    const key = scanner.nextKey('')
    if (key === undefined) break
    if (metadata.has(key)) scanner.fail(jsonCodes['duplicate-key'], at, key, `${JSON.stringify(key)} occurs twice`)
    scanner.peek(key)
    const start = scanner.index
    scanner.skip(key)
    const raw = scanner.slice(start, scanner.index)
    if (raw.startsWith('{') || raw.startsWith('[')) nested += raw.length
    if (nested > maxNested)
      scanner.fail(jsonCodes.depth, start, key, `more than ${maxNested} characters of nested values`)
    const value = toMeta(parseJson(encodeUtf8(raw), report, { path: key }), raw)
    Object.defineProperty(value, rawText, { value: raw })
    metadata.set(key, value)
  }
  scanner.end('')
  return metadata
}

/** A whole number is a float where its text, `raw`, has a point or an exponent, as Python writes and reads it. */
function toMeta(node: JsonNode, raw: string): MetaValue {
  if (node === null) return { type: 'null' }
  if (typeof node === 'string') return { type: 'str', value: node }
  if (typeof node === 'boolean') return { type: 'bool', value: node }
  if (typeof node === 'number') {
    return /[.eE]/.test(raw) ? { type: 'f64', value: node } : { type: 'i64', value: node + 0 } // without the sign of -0
  }
  if (typeof node === 'bigint') {
    if (node >= -(2n ** 63n) && node < 2n ** 63n) return { type: 'i64', value: node }
    return node >= 0n && node < 2n ** 64n ? { type: 'u64', value: node } : { type: 'json', value: exactNumber(node) }
  }
  return { type: 'json', value: toPlain(node) }
}

export const toPlain = (node: JsonNode): JsonValue => toPlainJson(node, exactNumber)

/** What JSON metadata can hold. Widths of numbers are the only thing that has no place. */
export function fitMetadata(value: MetaValue): Fit<MetaValue> {
  switch (value.type) {
    case 'null':
    case 'bool':
    case 'json':
      return { fits: true }
    case 'str':
      return value.bytes ? { fits: false, reason: 'JSON text must be UTF-8' } : { fits: true }
    case 'bytes':
    case 'bitset':
    case 'ndarray':
      return { fits: false, reason: `JSON metadata has no place for ${value.type}` }
    case 'array': {
      const items = value.values().map(fitMetadata)
      const bad = items.find((item) => !item.fits)
      if (bad) return bad
      return { fits: true, as: { type: 'json', value: toJson(value) }, reason: 'lists become JSON, without item types' }
    }
    case 'i64':
      return { fits: true }
    case 'u64':
      // Larger ones come back as what they are.
      if (value.value > 0x7fff_ffff_ffff_ffffn) return { fits: true }
      return { fits: true, as: { type: 'i64', value: value.value }, reason: 'JSON numbers have no width' }
    default: {
      const isFloat = value.type.includes('f')
      if (isFloat && !Number.isFinite(value.value)) return { fits: false, reason: `JSON cannot say ${value.value}` }
      if (value.type === 'f64') return { fits: true }
      const type = isFloat ? 'f64' : 'i64'
      return { fits: true, as: { type, value: value.value } as MetaValue, reason: 'JSON numbers have no width' }
    }
  }
}

function toJson(value: MetaValue): JsonValue {
  if (value.type === 'null') return null
  if (value.type === 'array') return value.values().map(toJson)
  if (value.type === 'bytes' || value.type === 'bitset' || value.type === 'ndarray') return null
  return typeof value.value === 'bigint' ? exactNumber(value.value) : value.value
}

/** As a number when its digits stay as they are, else as text. */
const exactNumber = (value: bigint | number): number | string =>
  String(Number(value)) === String(value) ? Number(value) : String(value)

/** Compact JSON, keys sorted and everything beyond ASCII escaped, as the reference writes it. Nested values keep their order. */
export function encodeMetaJson(metadata: Metadata): Uint8Array {
  const members = [...metadata]
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(
      ([key, value]) =>
        `${JSON.stringify(key)}:${(value as { readonly [rawText]?: string })[rawText] ?? textOf(key, value)}`,
    )
  return encodeUtf8(escapeBeyondAscii(`{${members.join(',')}}`))
}

function textOf(key: string, value: MetaValue): string {
  const fit = fitMetadata(value)
  if (!fit.fits) failWith(writeCodes['value-range'], { file: 'MJSN', path: key, message: fit.reason ?? 'no place' })
  if (value.type === 'i64' || value.type === 'u64') return String(value.value)
  // A whole number that is a float keeps its point, as Python writes it.
  if (Object.is((value as { readonly value?: unknown }).value, -0)) return '-0.0'
  if (value.type === 'f64')
    return Number.isInteger(value.value) ? `${String(value.value).replace(/^(-?\d+)$/, '$1.0')}` : String(value.value)
  return JSON.stringify(toJson(value))
}

const escapeBeyondAscii = (text: string): string =>
  text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
