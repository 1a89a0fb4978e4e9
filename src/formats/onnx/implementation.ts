import { withCompanions } from '../../content/companions.js'
import { vocabularyKind } from '../../content/vocabulary.js'
import { exportVocabulary } from '../../content/vocabulary-text.js'
import { readConfig } from '../../embed/heads.js'
import { onnxModelLayout } from '../../embed/onnx-export.js'
import type { Implementation, Layout, Model, WriteOptions } from '../../model/index.js'
import { graphOptions, vocabularyKey } from './capabilities.js'
import { check } from './check.js'
import { editFile } from './edit/edit-file.js'
import { readModel } from './read.js'
import { withoutCut } from './salvage.js'

export const onnx: Implementation = {
  async read(source, context) {
    const readable = context.onLost ? await withoutCut(source, context) : source
    const { model, found } = await readModel(readable, context)
    const { tensors, unread, positions } = found // and nothing else of what was found: names take much memory
    return {
      model: await withCompanions(model, source, context),
      check: (checking) => check({ tensors, unread, positions }, checking),
    }
  },
  layout,
  editFile,
}

/** Writes the graph of an encoder: it computes embeddings from tokens, and does not just hold the tensors. */
async function layout(model: Model, { name, extra }: WriteOptions): Promise<Layout> {
  const metadata = new Map<string, string>()
  for (const [key, value] of model.metadata) if (value.type === 'str') metadata.set(key, value.value)
  const vocabulary = model.parts.find((part) => part.kind === vocabularyKind)
  if (vocabulary) metadata.set(vocabularyKey, new TextDecoder().decode(exportVocabulary(vocabulary).bytes))
  return onnxModelLayout(model, { ...graphOptions(extra), config: await readConfig(model), name, metadata })
}
