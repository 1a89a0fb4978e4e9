// A sharded set: `model.safetensors.index.json` maps every tensor to the file that holds it. The set is read as one model.
import type { ByteSource } from '../../bytes/index.js'
import { readShardSet } from '../../content/weight-map.js'
import type { MetaValue, Model, Opened, Part, ReadContext } from '../../model/index.js'
import type { JsonObject } from '../../wire/index.js'
import { codes } from './codes.js'
import { indexMetadataPart, toPlain } from './index-metadata.js'

type ReadFile = (source: ByteSource, context: ReadContext) => Promise<Model>

export async function readIndex(source: ByteSource, context: ReadContext, readFile: ReadFile): Promise<Model> {
  const { root, shards, tensors } = await readShardSet(source, context, codes, async (...args) => ({
    model: await readFile(...args),
  }))
  return {
    format: 'safetensors',
    variant: 'sharded',
    metadata: mergeMetadata(shards, context),
    tensors,
    parts: indexPart(root),
    files: [source, ...[...shards.values()].flatMap(({ model }) => model.files)],
  }
}

export function mergeMetadata(shards: ReadonlyMap<string, Opened>, { report }: ReadContext): Map<string, MetaValue> {
  const merged = new Map<string, MetaValue>()
  for (const [file, { model }] of shards) {
    for (const [key, value] of model.metadata) {
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

/** The other metadata of the index, so that writing a set keeps them. The total size is computed again. */
function indexPart(root: JsonObject): Part[] {
  const metadata = root.get('metadata')
  if (!(metadata instanceof Map)) return []
  const rest = [...metadata].filter(([key]) => key !== 'total_size')
  if (rest.length === 0) return []
  return [indexMetadataPart(toPlain(new Map(rest)))]
}
