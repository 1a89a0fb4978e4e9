// A sharded set: `model.safetensors.index.json` maps every tensor to the file that holds it. The set is read as one model.
import { type ByteSource, isPlainFileName } from '../../bytes/index.js'
import { TareError } from '../../errors/index.js'
import type { JsonValue, MetaValue, Model, Part, ReadContext, Tensor } from '../../model/index.js'
import { type JsonNode, type JsonObject, parseJson } from '../../wire/index.js'
import { codes } from './codes.js'
import { readFile } from './read.js'

export async function readIndex(source: ByteSource, context: ReadContext): Promise<Model> {
  const { report, limits } = context
  if (source.size > limits.indexBytes) {
    report.fail(codes['index-shape'], {
      offset: 0,
      path: 'index',
      message: `an index of ${source.size} bytes is over the limit`,
    })
  }
  const bytes = await source.read(0, source.size, { signal: context.signal })
  const root = parseJson(bytes, report, { path: 'index' })
  context.extents?.add({ file: source.name, offset: 0, length: source.size, path: 'index', kind: 'field' })
  const weightMap = root instanceof Map ? root.get('weight_map') : undefined
  if (!(root instanceof Map) || !(weightMap instanceof Map)) {
    return report.fail(codes['index-shape'], {
      offset: 0,
      path: 'weight_map',
      message: 'an object weight_map was expected',
    })
  }
  const placed = groupByShard(weightMap, context)
  const shards = new Map<string, Model>()
  for (const file of placed.keys()) {
    const shard = await openShard(source, file, context)
    if (shard) shards.set(file, shard)
  }
  const tensors = collectTensors(placed, shards, context)
  checkTotal(root, tensors, context)
  return {
    format: 'safetensors',
    variant: 'sharded',
    metadata: mergeMetadata(shards, context),
    tensors,
    parts: indexPart(root),
    files: [source, ...[...shards.values()].flatMap((shard) => shard.files)],
  }
}

function groupByShard(weightMap: JsonObject, { report }: ReadContext): Map<string, Set<string>> {
  const placed = new Map<string, Set<string>>()
  const refused = new Set<string>()
  for (const [name, file] of weightMap) {
    const path = `weight_map[${JSON.stringify(name)}]`
    if (typeof file !== 'string') {
      report.report(codes['index-shape'], { offset: 0, path, message: 'a file name was expected' })
    } else if (!isPlainFileName(file)) {
      if (refused.has(file)) continue
      refused.add(file)
      const message = `${JSON.stringify(file)} is not a plain file name beside the index`
      report.report(codes['shard-path'], { offset: 0, path, message })
    } else {
      const names = placed.get(file)
      if (names) names.add(name)
      else placed.set(file, new Set([name]))
    }
  }
  return placed
}

async function openShard(source: ByteSource, file: string, context: ReadContext): Promise<Model | undefined> {
  const { report } = context
  let shard: ByteSource
  try {
    if (!source.sibling) throw new Error('this kind of input has no files beside it')
    shard = await source.sibling(file)
  } catch (error) {
    const message = `${file} cannot be opened: ${error instanceof TareError ? error.finding.message : (error as Error).message}`
    report.report(codes['shard-missing'], { offset: 0, path: `weight_map -> ${file}`, message })
    return undefined
  }
  try {
    return await readFile(shard, { ...context, report: report.forFile(shard.name) })
  } catch (error) {
    await shard.close()
    if (report.strict || !(error instanceof TareError)) throw error
    // Everything is collected: the other shards are worth a look.
    const message = `${file} cannot be read: ${error.finding.message}`
    report.report(codes['shard-missing'], { offset: 0, path: `weight_map -> ${file}`, message })
    return undefined
  }
}

function collectTensors(
  placed: Map<string, Set<string>>,
  shards: Map<string, Model>,
  { report }: ReadContext,
): Tensor[] {
  const tensors: Tensor[] = []
  for (const [file, names] of placed) {
    const shard = shards.get(file)
    if (!shard) continue
    const missing = new Set(names)
    for (const tensor of shard.tensors) {
      if (missing.delete(tensor.name)) tensors.push(tensor)
      else if (!names.has(tensor.name)) {
        const message = `${file} holds ${JSON.stringify(tensor.name)}, which the index does not place there`
        report.report(codes['shard-tensor-extra'], { offset: 0, path: 'weight_map', message })
      }
    }
    for (const name of missing) {
      const message = `${file} does not hold ${JSON.stringify(name)}`
      report.report(codes['shard-tensor-missing'], { offset: 0, path: `weight_map[${JSON.stringify(name)}]`, message })
    }
  }
  return tensors
}

function checkTotal(root: JsonObject, tensors: readonly Tensor[], { report }: ReadContext): void {
  const metadata = root.get('metadata')
  const stated = metadata instanceof Map ? metadata.get('total_size') : undefined
  if (stated === undefined) return
  const total = tensors.reduce((sum, tensor) => sum + (tensor.data?.byteLength ?? 0), 0)
  if (stated === total) return
  const message = `the index states ${String(stated)} bytes, the tensors have ${total}`
  report.report(codes['total-size'], { offset: 0, path: 'metadata.total_size', message })
}

function mergeMetadata(shards: ReadonlyMap<string, Model>, { report }: ReadContext): Map<string, MetaValue> {
  const merged = new Map<string, MetaValue>()
  for (const [file, shard] of shards) {
    for (const [key, value] of shard.metadata) {
      const known = merged.get(key)
      if (!known) merged.set(key, value)
      else if (known.type === 'str' && value.type === 'str' && known.value !== value.value) {
        const message = `${file} gives another value for ${JSON.stringify(key)} than the shards before it`
        report.report(codes['shard-metadata'], { offset: 0, path: `__metadata__[${JSON.stringify(key)}]`, message })
      }
    }
  }
  return merged
}

/** What the index says beside the map, so that writing a set keeps it. The total size is computed anew. */
function indexPart(root: JsonObject): Part[] {
  const metadata = root.get('metadata')
  if (!(metadata instanceof Map)) return []
  const rest = [...metadata].filter(([key]) => key !== 'total_size')
  if (rest.length === 0) return []
  return [{ kind: 'safetensors.index-metadata', sharing: 'private', value: toPlain(new Map(rest)) }]
}

function toPlain(node: JsonNode): JsonValue {
  if (node instanceof Map) {
    const object = Object.create(null) as Record<string, JsonValue>
    for (const [key, value] of node) object[key] = toPlain(value)
    return object
  }
  if (Array.isArray(node)) return node.map(toPlain)
  return typeof node === 'bigint' ? node.toString() : node
}
