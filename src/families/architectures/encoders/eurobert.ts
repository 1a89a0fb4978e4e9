// EuroBERT: the layers of Llama, with attention to both sides.
import type { Family, NameTable } from '../../family.js'
import { seesAll } from '../moe/qwen-like.js'
import { commonKeys, decoderSettings, key } from '../shared-keys.js'
import { attentionNames, gatedMlpNames, outerNames, preNormNames } from '../shared-names.js'

const names: NameTable = { ...outerNames, ...preNormNames, ...attentionNames, ...gatedMlpNames }
const { lm_head: _, ...inner } = names

export const euroBert: Family = {
  architecture: 'eurobert',
  classes: ['EuroBertModel', 'JinaEmbeddingsV5Model'],
  configs: { eurobert: {} },
  settings: [...decoderSettings],
  keys: [...commonKeys, seesAll, key.noRopeScaling, key.pooling],
  tensors: Object.fromEntries(Object.entries(inner).map(([name, rule]) => [name.replace(/^model\./, ''), rule])),
  prefix: { remove: ['model.'] },
  tokenizerEntries: { before: { add_bos_token: false } },
  tokenizer: 'bpe',
}
