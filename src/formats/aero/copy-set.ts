// A set that did not change travels as it is: its files are copied, whatever they hold.
import { encodeUtf8, isPlainFileName } from '../../bytes/index.js'
import { type FileLayout, type Layout, type Model, rangePayload, type WriteOptions } from '../../model/index.js'
import { areSameTensors } from '../../model/same-tensor.js'
import { type JsonNode, printJson } from '../../wire/index.js'
import { fileOf } from './file.js'
import { areSameEntries } from './layout.js'
import { asksForLayout } from './options.js'
import type { AeroSet } from './read-set.js'
import type { SetFile, SetIndex } from './set-json.js'

const suffix = /\.aeroset\.json$/i

/** Sets under other names than `model` can share a directory. */
export function prefixOf(name: string): string {
  const stem = name.replace(suffix, '')
  return stem === 'model' || stem === '' ? '' : `${stem}.`
}

/** Only files that lie beside the index can be copied under the same names. */
export function isUntouched(model: Model, set: AeroSet, options: WriteOptions): boolean {
  const { index } = set
  const isLocal =
    index.baseUrl === undefined && [...index.parts, index.global].every(({ path }) => isPlainFileName(path))
  const sameTensors = areSameTensors(model.tensors, set.tensors)
  const sameParts = set.kept.every(({ kind, value }) =>
    model.parts.some((part) => part.kind === kind && part.value === value),
  )
  const sameMetadata = areSameEntries(model.metadata, set.metadata)
  return !options.anew && isLocal && sameTensors && sameParts && sameMetadata && !asksForLayout(options)
}

/**
 * The files as they are. Under another name the set gets files of other names too, since a set with the old ones may be there already; then
 * the index says so.
 */
export async function copyOf(set: AeroSet, { name }: WriteOptions): Promise<Layout> {
  const { index } = set
  const rename = renamer(set.source.name, name)
  const sources = new Map([[index.global.path, fileOf(set.global)!.source]])
  for (const [i, { path }] of index.parts.entries()) {
    if (!sources.has(path)) sources.set(path, fileOf((await set.parts.open(i)).model)!.source)
  }
  const isRenamed = [...sources.keys()].some((path) => rename(path) !== path)
  const bytes = isRenamed ? encodeUtf8(renamedIndex(index, rename)) : set.bytes
  const files = Array.from(sources, ([path, source]): FileLayout => {
    const payload = rangePayload(source, 0, source.size)
    return { name: rename(path), slots: [{ kind: 'payload', path: 'file', payload }] }
  })
  return { files: [{ name, slots: [{ kind: 'bytes', path: 'index', bytes }] }, ...files] }
}

function renamer(oldName: string, newName: string): (path: string) => string {
  const [before, after] = [prefixOf(oldName.replace(/^.*[/\\]/, '')), prefixOf(newName)]
  return (path) => (before === after ? path : after + (path.startsWith(before) ? path.slice(before.length) : path))
}

function renamedIndex({ root, parts, global }: SetIndex, rename: (path: string) => string): string {
  const renamed = (node: JsonNode | undefined, { path }: SetFile): JsonNode =>
    new Map([...(node as Map<string, JsonNode>), ['path', rename(path)]])
  const list = (root.get('parts') as JsonNode[]).map((node, i) => renamed(node, parts[i]!))
  const changes: [string, JsonNode][] = [
    ['parts', list],
    ['global_tidx', renamed(root.get('global_tidx'), global)],
  ]
  return printJson(new Map([...root, ...changes]))
}
