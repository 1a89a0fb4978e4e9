// Shards without an index: where a directory holds all files of one set, and their names say so, they are read as one model.
import { type ByteSource, fileNameOf } from '../../bytes/index.js'
import { openAhead } from '../../content/open-ahead.js'
import type { Model, Opened, ReadContext, Tensor } from '../../model/index.js'
import { codes } from './codes.js'
import { completeSet } from './detect.js'
import { entryPath } from './header.js'
import { mergeMetadata } from './read-index.js'

type ReadFile = (source: ByteSource, context: ReadContext) => Promise<Model>

/** The files of the set that this one is the first of, where its directory was opened as one model. */
export function setOf({ name, folder, sibling }: ByteSource): readonly string[] | undefined {
  if (!folder?.isWhole || !sibling) return undefined
  const files = completeSet(folder.files)
  return files?.[0] === fileNameOf(name) ? files : undefined
}

export async function readSet(
  source: ByteSource,
  files: readonly string[],
  context: ReadContext,
  readFile: ReadFile,
): Promise<Model> {
  const { report } = context
  const [main, ...others] = files as readonly [string, ...string[]]
  const shards = new Map<string, Opened>([[main, { model: await readFile(source, context) }]])
  for await (const { name, opened } of openAhead(others, (file) => source.sibling!(file))) {
    const shard = await opened
    try {
      shards.set(name, { model: await readFile(shard, { ...context, report: report.forFile(shard.name) }) })
    } catch (error) {
      await shard.close()
      throw error
    }
  }
  const names = new Set<string>()
  const tensors: Tensor[] = []
  for (const [file, { model }] of shards) {
    for (const tensor of model.tensors) {
      if (names.has(tensor.name)) {
        const message = `${file} has a tensor that an earlier file of the set has, too`
        report.report(codes['duplicate-name'], { offset: 0, path: entryPath(tensor.name), message })
      }
      names.add(tensor.name)
      tensors.push(tensor)
    }
  }
  return {
    format: 'safetensors',
    variant: 'sharded',
    metadata: mergeMetadata(shards, context),
    tensors,
    parts: [],
    files: [...shards.values()].flatMap(({ model }) => model.files),
  }
}
