// A set that did not change is written as it is: its files are copied, whatever they hold.
import { type ByteSource, encodeUtf8, isPlainFileName, toHex } from '../../../bytes/index.js'
import { createHasher } from '../../../digest/index.js'
import { failWith } from '../../../errors/index.js'
import {
  type FileLayout,
  type Layout,
  type Model,
  type Payload,
  rangePayload,
  type WriteOptions,
} from '../../../model/index.js'
import { areSameTensors } from '../../../model/tensor-order.js'
import { type JsonNode, printJson } from '../../../wire/index.js'
import { setCodes } from '../codes.js'
import { areSameEntries } from '../layout.js'
import { asksForLayout } from '../write/options.js'
import type { AeroSet } from './read-set.js'
import type { OpenPart } from './set-files.js'
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
  return !options.rewrite && isLocal && sameTensors && sameParts && sameMetadata && !asksForLayout(options)
}

/**
 * The files as they are. When the set gets another name, so do its files, since a set with the old names may be there already; then the index
 * is rewritten to match.
 */
export async function copyOf(set: AeroSet, { name }: WriteOptions): Promise<Layout> {
  const { index } = set
  const rename = renamer(set.source.name, name)
  const opened: OpenPart[] = []
  for (const i of index.parts.keys()) opened.push(await set.parts.open(i))
  assertPlaced(set, opened)
  const sources = new Map([[index.global.path, set.global.file.source]])
  for (const [i, { path }] of index.parts.entries()) {
    if (!sources.has(path)) sources.set(path, opened[i]!.file.source)
  }
  const isRenamed = [...sources.keys()].some((path) => rename(path) !== path)
  const bytes = isRenamed ? encodeUtf8(renamedIndex(index, rename)) : set.bytes
  const files = Array.from(sources, ([path, source]): FileLayout => {
    const stated = [index.global, ...index.parts].filter((file) => file.path === path)
    const payload = provenPayload(source, stated, set.source.name)
    const isIndivisible = payload.slices === undefined
    return { name: rename(path), slots: [{ kind: 'payload', path: 'file', payload }], isIndivisible }
  })
  return { files: [{ name, slots: [{ kind: 'bytes', path: 'index', bytes }] }, ...files] }
}

/** A set whose parts do not hold its tensors must not be handed on. */
function assertPlaced({ index, global, source }: AeroSet, opened: readonly OpenPart[]): void {
  for (const { tensor, shardId } of global.file.entries) {
    const { name } = tensor
    const number = index.partOf.get(shardId)
    if (number !== undefined && opened[number]!.file.entryOf(name)) continue
    const message = `no part of the set holds ${JSON.stringify(name)} where the indexes place it`
    failWith(setCodes['tensor-not-in-part'], { file: source.name, offset: 0, path: name, message })
  }
}

/** A file that is copied is compared with the SHA-256 that the set index states. */
function provenPayload(source: ByteSource, stated: readonly SetFile[], setName: string): Payload {
  const whole = rangePayload(source, 0, source.size)
  const proofs = stated.filter(({ sha256 }) => sha256 !== undefined)
  if (proofs.length === 0) return whole
  return {
    byteLength: whole.byteLength,
    async *chunks(window, signal) {
      const hasher = await createHasher('sha256')
      for await (const bytes of whole.chunks(window, signal)) {
        hasher.update(bytes)
        yield bytes
      }
      const digest = toHex(hasher.digest())
      const wrong = proofs.find(({ sha256 }) => sha256 !== digest)
      if (!wrong) return
      const message = `${JSON.stringify(wrong.path)} does not have the SHA-256 that the set index states, so the set cannot be copied as it is`
      failWith(setCodes.sha256, { file: setName, offset: 0, path: `${wrong.where}.sha256`, message })
    },
  }
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
