// ModelInfo of a model without config.json: the fields follow from what its metadata says in the words of GGUF, behind the name of the
// architecture, or in those of config.json.
import { configWords } from '../../../content/config-words.js'
import { statedArchitecture } from '../../../content/model-names.js'
import type { Metadata } from '../../../model/index.js'
import { architectures, emptyModelInfo, type ModelInfo, ropeTypes } from './model-info.js'

/** The name of an architecture is matched as a part of the word, in this order. */
const matchOrder = architectures.slice(1)

/** `metadata` are those of the section: values that it cannot store are elsewhere. */
export function modelInfoFromMetadata(metadata: Metadata, modelName: string): ModelInfo {
  const stated = statedArchitecture({ metadata }, undefined)
  const name = stated?.toLowerCase() ?? ''
  const find = (type: 'u32' | 'f32', ...words: readonly string[]): number => {
    const value = words.map((word) => metadata.get(`${stated}.${word}`) ?? metadata.get(word)).find(Boolean)
    return value?.type === type ? Number(value.value) : 0
  }
  const count = (...words: readonly string[]): number => find('u32', ...words)
  const scaling = metadata.get(`${stated}.rope.scaling.type`)
  const match = matchOrder.find((each) => name.includes(each))
  return {
    ...emptyModelInfo,
    modelName,
    arch: match === undefined ? 0 : architectures.indexOf(match),
    vocabSize: count(...configWords.vocabulary),
    hiddenSize: count('embedding_length', ...configWords.hidden),
    layerCount: count('block_count', ...configWords.layers),
    headCount: count('attention.head_count', ...configWords.heads),
    headCountKv: count('attention.head_count_kv', ...configWords.kvHeads),
    contextLength: count('context_length', ...configWords.context),
    trainContext: count('rope.scaling.original_context_length'),
    ropeType: scaling?.type === 'str' ? Math.max((ropeTypes as readonly string[]).indexOf(scaling.value), 0) : 0,
    ropeFreqBase: find('f32', 'rope.freq_base', ...configWords.ropeTheta),
    ropeScale: find('f32', 'rope.scaling.factor'),
  }
}
