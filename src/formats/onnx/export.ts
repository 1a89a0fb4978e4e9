// Writing the graph of an encoder. Whoever reads it gets numbers from texts, not just the tensors.

import { vocabularyKind } from '../../content/vocabulary.js'
import { exportVocabulary } from '../../content/vocabulary-text.js'
import { onnxModelLayout } from '../../embed/onnx-export.js'
import type { Layout, Model, WriteOptions } from '../../model/index.js'
import { graphOptions, vocabularyKey } from './export-capabilities.js'

export async function layoutExport(model: Model, { name, extra }: WriteOptions): Promise<Layout> {
  const metadata = new Map<string, string>()
  for (const [key, value] of model.metadata) if (value.type === 'str') metadata.set(key, value.value)
  const vocabulary = model.parts.find((part) => part.kind === vocabularyKind)
  if (vocabulary) metadata.set(vocabularyKey, new TextDecoder().decode(exportVocabulary(vocabulary).bytes))
  return onnxModelLayout(model, { ...graphOptions(extra), name, metadata })
}
