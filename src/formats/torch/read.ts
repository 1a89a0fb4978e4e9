// Reads an archive, a file of the format before that, or a sharded set.
import { type ByteSource, decodeLossy } from '../../bytes/index.js'
import { readArchive } from '../../content/torch-save/archive.js'
import { codes } from '../../content/torch-save/codes.js'
import { readShardSet } from '../../content/weight-map.js'
import type { MetaValue, Model, Opened, ReadContext } from '../../model/index.js'
import { startsLikeZip } from '../../wire/zip/guess.js'
import { headSize, isPickle, looksLikeIndex } from './detect.js'
import { readLegacy } from './legacy.js'
import { readModelArchive } from './model-archive.js'

export async function read(source: ByteSource, context: ReadContext): Promise<Opened> {
  const head = await source.read(0, Math.min(source.size, headSize), { signal: context.signal })
  return looksLikeIndex(head) ? readIndex(source, context) : readFile(source, context)
}

const tarMark = { offset: 257, text: 'ustar' }

async function readFile(source: ByteSource, context: ReadContext): Promise<Opened> {
  const head = await source.read(0, Math.min(source.size, 512), { signal: context.signal })
  if (startsLikeZip(head))
    return (
      (await readModelArchive(source, head, context, readFile)) ?? readArchive(source, context, { format: 'torch' })
    )
  if (isPickle(head)) return readLegacy(source, context)
  if (decodeLossy(head.subarray(tarMark.offset, tarMark.offset + tarMark.text.length)) === tarMark.text)
    return context.report.fail(codes.tar, { offset: 0, path: 'file', message: 'the file is a tar archive' })
  const message = 'the file begins neither like a zip archive nor like a pickle'
  return context.report.fail(codes.magic, { offset: 0, path: 'file', message })
}

/** A sharded set as Hugging Face writes it: the index maps every tensor to the file that holds it. The set is read as one model. */
async function readIndex(source: ByteSource, context: ReadContext): Promise<Opened> {
  const { shards, tensors } = await readShardSet(source, context, codes, readFile)
  const opened = [...shards.values()]
  const models = opened.map(({ model }) => model)
  const metadata = new Map<string, MetaValue>()
  for (const shard of models) {
    // Where shards disagree, the first one counts.
    for (const [key, value] of shard.metadata) if (!metadata.has(key)) metadata.set(key, value)
  }
  const files = [source, ...models.flatMap((shard) => shard.files)]
  const model: Model = { format: 'torch', variant: 'sharded', metadata, tensors, parts: [], files }
  return {
    model,
    async check(context) {
      for (const shard of opened) await shard.check?.(context)
    },
  }
}
