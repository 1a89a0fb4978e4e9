import { vocabularyKind } from '../../content/vocabulary.js'
import { exportVocabulary } from '../../content/vocabulary-text.js'
import { readConfig } from '../../embed/heads.js'
import { onnxModelLayout } from '../../embed/onnx-export.js'
import type { Implementation, Layout, Model, ReadContext, WriteOptions } from '../../model/index.js'
import { graphOptions, unusedByEncoder, vocabularyKey } from './capabilities.js'
import { check } from './check.js'
import { editFile } from './edit/edit-file.js'
import { readModel } from './read.js'
import { withoutCut } from './salvage.js'
import { graphKind } from './words.js'
import { DataFiles } from './write/data-files.js'
import { exchangeLayout } from './write/exchange.js'
import { graphLayout } from './write/graph.js'

export const onnx: Implementation = {
  async read(source, context) {
    const readable = context.onLost ? await withoutCut(source, context) : source
    const { model: whole, found } = await readModel(readable, context)
    const model = readable === source ? whole : withoutGraph(whole, context)
    const { tensors, unread, positions } = found // and nothing else of what was found: names take much memory
    return { model, check: (checking) => check({ tensors, unread, positions }, checking) }
  },
  layout,
  editFile,
}

/** What is left of a graph that was cut computes nothing; its tensors are worth keeping. */
function withoutGraph(model: Model, { onLost }: ReadContext): Model {
  if (!model.parts.some(({ kind }) => kind === graphKind)) return model
  onLost?.({ subject: 'part', name: graphKind, reason: 'the graph was cut' })
  return { ...model, parts: model.parts.filter(({ kind }) => kind !== graphKind) }
}

/** The graph that the model has; that of an encoder, which computes embeddings from tokens; or none at all. */
async function layout(model: Model, options: WriteOptions): Promise<Layout> {
  const original = model.parts.find(({ kind }) => kind === graphKind)?.content as Model | undefined
  if (original) return graphLayout(original, model, options)
  if (!unusedByEncoder(model, options.extra)) return exchangeLayout(model, options)
  const { name, extra, shardSize, align } = options
  const metadata = new Map<string, string>()
  for (const [key, value] of model.metadata) if (value.type === 'str') metadata.set(key, value.value)
  const vocabulary = model.parts.find((part) => part.kind === vocabularyKind)
  if (vocabulary) metadata.set(vocabularyKey, new TextDecoder().decode(exportVocabulary(vocabulary).bytes))
  const config = await readConfig(model)
  const data = new DataFiles({ name, maxSize: shardSize, align })
  const outside = { isWanted: shardSize !== undefined, fields: data.fields.bind(data) }
  const { files } = onnxModelLayout(model, { ...graphOptions(extra), config, name, metadata, outside })
  return { files: [...files, ...data.layouts], isMade: true }
}
