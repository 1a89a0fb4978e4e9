// A sharded model as Hugging Face writes it: a JSON index whose `weight_map` says which file holds which tensor. The format reads the
// shards; whether index and shards agree is checked here.
import { type ByteSource, isPathBelow } from '../bytes/index.js'
import { type CodeTable, isSystemFailure, TareError } from '../errors/index.js'
import type { Opened, ReadContext } from '../model/format.js'
import type { Tensor } from '../model/model.js'
import { type JsonObject, parseJson } from '../wire/index.js'
import { openAhead } from './open-ahead.js'

/** A format's codes for problems with such an index. */
export type WeightMapCodes = CodeTable<
  'index-shape' | 'shard-path' | 'shard-missing' | 'shard-tensor-missing' | 'shard-tensor-extra' | 'total-size'
>

export interface ShardSet {
  /** The whole index. */
  readonly root: JsonObject
  /** By file name, in the order of the map. Unreadable files are left out. */
  readonly shards: ReadonlyMap<string, Opened>
  readonly tensors: Tensor[]
}

type ReadShard = (source: ByteSource, context: ReadContext) => Promise<Opened>

export async function readShardSet(
  source: ByteSource,
  context: ReadContext,
  codes: WeightMapCodes,
  readShard: ReadShard,
): Promise<ShardSet> {
  const { report, limits } = context
  const fail = (message: string, path = 'weight_map'): never =>
    report.fail(codes['index-shape'], { offset: 0, path, message })
  if (source.size > limits.indexBytes) fail(`an index of ${source.size} bytes is over the limit`, 'index')
  const bytes = await source.read(0, source.size, { signal: context.signal })
  const root = parseJson(bytes, report, { path: 'index' })
  context.extents?.add({ file: source.name, offset: 0, length: source.size, path: 'index', kind: 'field' })
  const weightMap = root instanceof Map ? root.get('weight_map') : undefined
  if (!(root instanceof Map) || !(weightMap instanceof Map)) return fail('the index has no object of this name')
  const all = groupByShard(weightMap, context, codes)
  const placed = onlyWanted(all, context)
  const shards = new Map<string, Opened>()
  const open = async (file: string): Promise<ByteSource> => {
    const opener = file.includes('/') ? source.below : source.sibling
    if (!opener) throw new Error('this kind of input has no files beside it')
    return opener.call(source, file)
  }
  for await (const { name: file, opened } of openAhead(placed.keys(), open)) {
    const shard = await openShard(file, opened, context, codes, readShard)
    if (shard) shards.set(file, shard)
    else sayLost(placed.get(file)!, `${file} is missing or cannot be read`, context)
  }
  const tensors = collectTensors(placed, shards, context, codes)
  if (placed === all) checkTotal(root, tensors, context, codes)
  return { root, shards, tensors }
}

type Placed = ReadonlyMap<string, ReadonlySet<string>>

/** The shards that hold the tensors that will be read, if the index places all of them. */
function onlyWanted(placed: Placed, { wanted }: ReadContext): Placed {
  if (!wanted) return placed
  const found = new Map<string, ReadonlySet<string>>()
  const missing = new Set(wanted)
  for (const [file, names] of placed) {
    for (const name of wanted) {
      if (!names.has(name)) continue
      found.set(file, names)
      missing.delete(name)
    }
  }
  return missing.size > 0 || found.size === 0 ? placed : found
}

function sayLost(names: Iterable<string>, reason: string, { onLost }: ReadContext): void {
  for (const name of names) onLost?.({ subject: 'tensor', name, reason })
}

function groupByShard(weightMap: JsonObject, { report }: ReadContext, codes: WeightMapCodes): Map<string, Set<string>> {
  const placed = new Map<string, Set<string>>()
  const refused = new Set<string>()
  for (const [name, file] of weightMap) {
    const path = `weight_map[${JSON.stringify(name)}]`
    if (typeof file !== 'string') {
      report.report(codes['index-shape'], { offset: 0, path, message: 'a file name was expected' })
    } else if (isPathBelow(file)) {
      const names = placed.get(file)
      if (names) names.add(name)
      else placed.set(file, new Set([name]))
    } else if (!refused.has(file)) {
      refused.add(file)
      const message = `${JSON.stringify(file)} is not a file beside the index or in a folder below it`
      report.report(codes['shard-path'], { offset: 0, path, message })
    }
  }
  return placed
}

async function openShard(
  file: string,
  opened: Promise<ByteSource>,
  context: ReadContext,
  codes: WeightMapCodes,
  readShard: ReadShard,
): Promise<Opened | undefined> {
  const { report } = context
  const missing = (what: string, error: unknown): undefined => {
    const why = error instanceof TareError ? error.finding.message : (error as Error).message
    const message = `${file} ${what}: ${why}`
    report.report(codes['shard-missing'], { offset: 0, path: `weight_map -> ${file}`, message })
  }
  let shard: ByteSource
  try {
    shard = await opened
  } catch (error) {
    if (isSystemFailure(error)) throw error
    return missing('cannot be opened', error)
  }
  try {
    return await readShard(shard, { ...context, report: report.forFile(shard.name) })
  } catch (error) {
    await shard.close()
    if (report.strict || !(error instanceof TareError) || isSystemFailure(error)) throw error
    return missing('cannot be read', error) // findings are collected, so the other shards are read as well
  }
}

function collectTensors(
  placed: Placed,
  shards: ReadonlyMap<string, Opened>,
  context: ReadContext,
  codes: WeightMapCodes,
): Tensor[] {
  const { report } = context
  const tensors: Tensor[] = []
  for (const [file, names] of placed) {
    const shard = shards.get(file)
    if (!shard) continue
    const missing = new Set(names)
    for (const tensor of shard.model.tensors) {
      if (missing.delete(tensor.name)) tensors.push(tensor)
      else if (!names.has(tensor.name)) {
        const message = `${file} holds ${JSON.stringify(tensor.name)}, which the index does not place there`
        report.report(codes['shard-tensor-extra'], { offset: 0, path: 'weight_map', message })
      }
    }
    for (const name of missing) {
      const message = `${file} does not hold ${JSON.stringify(name)}`
      sayLost([name], message, context)
      report.report(codes['shard-tensor-missing'], { offset: 0, path: `weight_map[${JSON.stringify(name)}]`, message })
    }
  }
  return tensors
}

function checkTotal(
  root: JsonObject,
  tensors: readonly Tensor[],
  { report }: ReadContext,
  codes: WeightMapCodes,
): void {
  const metadata = root.get('metadata')
  const stated = metadata instanceof Map ? metadata.get('total_size') : undefined
  if (stated === undefined) return
  const total = tensors.reduce((sum, tensor) => sum + (tensor.data?.byteLength ?? 0), 0)
  if (stated === total) return
  const message = `the index states ${String(stated)} bytes, the tensors have ${total}`
  report.report(codes['total-size'], { offset: 0, path: 'metadata.total_size', message })
}
