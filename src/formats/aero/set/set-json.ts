// The index of a set, `model.aeroset.json`: which part file holds which weight shards, and where the global tensor index is. Version 0.2
// adds `base_url` and parts that are addresses; no reader looks at the version.
import { encodeUtf8 } from '../../../bytes/index.js'
import { type Report, strictReport, TareError } from '../../../errors/index.js'
import type { Metadata } from '../../../model/index.js'
import { describeJson, type JsonNode, JsonScanner, parseJson } from '../../../wire/index.js'
import { setCodes } from '../codes.js'
import { parseMembers } from '../index/meta-json.js'

export interface SetFile {
  readonly path: string
  /** Lower-case hexadecimal digits. */
  readonly sha256: string | undefined
  readonly size: number | undefined
  /** The path of this entry in the set index, for messages. */
  readonly where: string
}

export interface SetPart extends SetFile {
  /** Numbers of the shards, counted over the whole set. */
  readonly shards: readonly number[]
}

export interface SetIndex {
  readonly version: string
  readonly parts: readonly SetPart[]
  readonly global: SetFile
  /** The position of the part that has a shard, by the shard's number; the first claim counts. */
  readonly partOf: ReadonlyMap<number, number>
  readonly baseUrl: string | undefined
  /** What `model` says. */
  readonly model: Metadata
  readonly root: ReadonlyMap<string, JsonNode>
}

/** Keys that describe the model and its files; all others are carried along. */
export const knownKeys: ReadonlySet<string> = new Set(['format', 'model', 'parts', 'global_tidx', 'base_url'])

export function parseSetIndex(bytes: Uint8Array, outer: Report): SetIndex {
  const report: Report = { ...outer, fail: (_code, details): never => outer.fail(setCodes.json, details) }
  const fail = (path: string, message: string): never => outer.fail(setCodes.json, { offset: 0, path, message })
  const root = parseJson(bytes, report, { path: '' })
  if (!(root instanceof Map)) return fail('', 'an object was expected')
  const format = root.get('format')
  const name = format instanceof Map ? format.get('name') : undefined
  if (name !== 'AEROSET') {
    const message = `${describeJson(name ?? null)} where "AEROSET" was expected`
    outer.report(setCodes.format, { offset: 0, path: 'format.name', message })
  }
  const version = versionOf(format instanceof Map ? format.get('version') : undefined)
  if (version !== '0.1' && version !== '0.2') {
    outer.report(setCodes.version, { offset: 0, path: 'format.version', message: `${version} is not known` })
  }
  const parts = root.get('parts')
  if (!Array.isArray(parts)) return fail('parts', 'a list of parts was expected')
  const global = root.get('global_tidx')
  if (!(global instanceof Map)) return fail('global_tidx', 'an object was expected')
  const baseUrl = root.get('base_url') ?? undefined
  if (baseUrl !== undefined && typeof baseUrl !== 'string') return fail('base_url', 'a string was expected')
  const parsed = parts.map((part, i) => parsePart(part, `parts[${i}]`, outer, fail))
  return {
    version,
    parts: parsed,
    partOf: partsByShard(parsed),
    global: parseFile(global, 'global_tidx', outer, fail),
    baseUrl: baseUrl === '' ? undefined : baseUrl,
    model: root.get('model') instanceof Map ? parseModel(bytes, fail) : new Map(),
    root,
  }
}

function partsByShard(parts: readonly SetPart[]): Map<number, number> {
  const partOf = new Map<number, number>()
  for (const [i, { shards }] of parts.entries()) for (const id of shards) if (!partOf.has(id)) partOf.set(id, i)
  return partOf
}

/** Metadata values keep the text that they were read from, so `model` is parsed again from its own text. */
function parseModel(bytes: Uint8Array, fail: Fail): Metadata {
  try {
    return parseMembers(encodeUtf8(textOfMember(bytes, 'model')))
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    return fail('model', error.finding.message)
  }
}

/** The text of a member of an object that was parsed before. */
function textOfMember(bytes: Uint8Array, wanted: string): string {
  const scanner = new JsonScanner(bytes, strictReport(''))
  scanner.beginObject('')
  for (let key = scanner.nextKey(''); key !== wanted; key = scanner.nextKey('')) scanner.skip('')
  scanner.peek('')
  const start = scanner.index
  scanner.skip('')
  return scanner.slice(start, scanner.index)
}

type Fail = (path: string, message: string) => never

function versionOf(node: JsonNode | undefined): string {
  if (node === undefined) return 'none'
  const isVersion = Array.isArray(node) && node.length > 0 && node.every((each) => typeof each === 'number')
  return isVersion ? node.join('.') : typeof node === 'string' ? node : describeJson(node)
}

function parsePart(node: JsonNode, where: string, report: Report, fail: Fail): SetPart {
  const file = parseFile(node, where, report, fail)
  const shards = (node as Map<string, JsonNode>).get('shards')
  const isRight =
    Array.isArray(shards) && shards.every((id) => typeof id === 'number' && Number.isInteger(id) && id >= 0)
  if (!isRight) return fail(`${where}.shards`, 'a list of shard numbers was expected')
  return { ...file, shards: shards as number[] }
}

function parseFile(node: JsonNode, where: string, report: Report, fail: Fail): SetFile {
  if (!(node instanceof Map)) return fail(where, 'an object was expected')
  const path = node.get('path')
  if (typeof path !== 'string' || path === '') return fail(`${where}.path`, 'a file name was expected')
  const given = node.get('size_bytes') ?? undefined
  // No file is so large that its size needs more than 53 bits, so rounding changes nothing.
  const size = typeof given === 'bigint' ? Number(given) : given
  if (size !== undefined && (typeof size !== 'number' || !Number.isInteger(size) || size < 0)) {
    return fail(`${where}.size_bytes`, 'a number of bytes was expected')
  }
  const stated = node.get('sha256') ?? undefined
  const isDigest = typeof stated === 'string' && /^[0-9a-fA-F]{64}$/.test(stated)
  if (stated !== undefined && stated !== '' && !isDigest) {
    const message = 'this is no SHA-256 in hexadecimal digits'
    report.report(setCodes['sha256-form'], { offset: 0, path: `${where}.sha256`, message })
  }
  return { path, size, sha256: isDigest ? stated.toLowerCase() : undefined, where }
}
