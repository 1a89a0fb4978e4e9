import { decodeLossy } from '../../bytes/index.js'
import { shardName } from '../../content/shard-set.js'

/** The weight map of an index begins within this many bytes. */
export const headSize = 65_536

export const indexSuffix = '.safetensors.index.json'

const shardForm = /^(.*)-(\d{5})-of-(\d{5})\.safetensors$/

/** The files of a set in order, where these are all of one set and nothing else of this format. */
export function completeSet(names: readonly string[]): readonly string[] | undefined {
  const files = names.filter((name) => name.endsWith('.safetensors')).sort()
  const [, stem, , count] = shardForm.exec(files[0] ?? '') ?? []
  if (stem === undefined || Number(count) !== files.length) return undefined
  const isNext = (name: string, i: number): boolean => name === shardName(stem, i, files.length, '.safetensors')
  return files.every(isNext) ? files : undefined
}

/** An index by its content; or by its name, unless the content is a header, however little is left of it. */
export function isIndex(head: Uint8Array, name: string): boolean {
  if (looksLikeIndex(head)) return true
  const hasHeader = head.byteLength > 8 && head[8] === 0x7b
  return name.toLowerCase().endsWith(indexSuffix) && !hasHeader
}

/** JSON text that mentions a weight map of safetensors files near its beginning, or lists metadata first. */
export function looksLikeIndex(head: Uint8Array): boolean {
  const text = decodeLossy(head.subarray(0, headSize)).trimStart()
  // A file whose header is 123 bytes long starts with "{" too, but then zeros follow.
  if (!text.startsWith('{') || text.startsWith('{\0') || !/"(weight_map|metadata)"\s*:/.test(text)) return false
  const firstFile = /"weight_map"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*"([^"]*)"/.exec(text)?.[1]
  return firstFile === undefined ? /"weight_map"/.test(text) : !/\.bin$/i.test(firstFile)
}
