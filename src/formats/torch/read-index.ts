// A sharded set as Hugging Face writes it: `pytorch_model.bin.index.json` maps every tensor to the file that holds it. The set is read as
// one model.
import type { ByteSource } from '../../bytes/index.js'
import { readShardSet } from '../../content/weight-map.js'
import type { MetaValue, Model, Opened, ReadContext } from '../../model/index.js'
import { codes } from './codes.js'

type ReadFile = (source: ByteSource, context: ReadContext) => Promise<Opened>

export async function readIndex(source: ByteSource, context: ReadContext, readFile: ReadFile): Promise<Opened> {
  const { shards, tensors } = await readShardSet(source, context, codes, readFile)
  const opened = [...shards.values()]
  const models = opened.map(({ model }) => model)
  const files = [source, ...models.flatMap((shard) => shard.files)]
  const model: Model = { format: 'torch', variant: 'sharded', metadata: merge(models), tensors, parts: [], files }
  return {
    model,
    async check(context) {
      for (const shard of opened) await shard.check?.(context)
    },
  }
}

/** What the shards say beside their tensors; the first one to say something counts. */
function merge(models: readonly Model[]): Map<string, MetaValue> {
  const merged = new Map<string, MetaValue>()
  for (const { metadata } of models) {
    for (const [key, value] of metadata) if (!merged.has(key)) merged.set(key, value)
  }
  return merged
}
