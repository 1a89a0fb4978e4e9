// DeepSeek V3.2 and GLM-5: the compressed attention of DeepSeek, in which a small indexer chooses the tokens that are looked at.

import { num, numberIn } from '../../facts.js'
import type { Family, KeyRule, NameTable } from '../../family.js'
import { furtherNames } from '../decoders/glm.js'
import { countsFurtherLayers, furtherLayers } from '../further-layers.js'
import { decoderSettings } from '../shared-keys.js'
import { deepseek2 } from './deepseek.js'

const indexer = 'model.layers.{n}.self_attn.indexer'

const names: NameTable = {
  ...deepseek2.tensors,
  [`${indexer}.wq_b`]: 'blk.{n}.indexer.attn_q_b',
  [`${indexer}.wk`]: 'blk.{n}.indexer.attn_k',
  [`${indexer}.k_norm`]: 'blk.{n}.indexer.k_norm',
  [`${indexer}.weights_proj`]: 'blk.{n}.indexer.proj',
  ...furtherNames,
}

const indexerKeys: readonly KeyRule[] = [
  { key: 'attention.indexer.head_count', type: 'u32', from: ['index_n_heads'], required: true },
  { key: 'attention.indexer.key_length', type: 'u32', from: ['index_head_dim'], required: true },
  { key: 'attention.indexer.top_k', type: 'u32', from: ['index_topk'], required: true },
]

const settings = [...decoderSettings, 'n_routed_experts', 'num_experts_per_tok', 'moe_intermediate_size']

const sparse: Omit<Family, 'architecture' | 'classes' | 'configs'> = {
  settings,
  settle: (config) => ({ rms_norm_eps: 1e-6, ...config }),
  ...countsFurtherLayers,
  keys: [...deepseek2.keys, furtherLayers, ...indexerKeys],
  tensors: names,
  dropsTiedOutput: true,
  // Not every layer need choose by itself.
  mayLack: /\.indexer\./,
  tokenizer: 'bpe',
}

export const deepseek32: Family = {
  ...sparse,
  architecture: 'deepseek32',
  classes: ['DeepseekV32ForCausalLM'],
  configs: { deepseek_v32: {} },
}

export const glmDsa: Family = {
  ...sparse,
  architecture: 'glm-dsa',
  classes: ['GlmMoeDsaForCausalLM'],
  configs: { glm_moe_dsa: {} },
  keys: [
    ...deepseek2.keys,
    {
      key: 'rope.dimension_count',
      type: 'u32',
      from: ['qk_rope_head_dim'],
      value: ({ config, rope }) =>
        Math.trunc(num(config, 'qk_rope_head_dim') * (numberIn(rope, 'partial_rotary_factor') ?? 1)),
      required: true,
    },
    furtherLayers,
    ...indexerKeys,
    {
      key: 'attention.indexer.types',
      type: 'bools',
      value: ({ config: { indexer_types: types } }) =>
        Array.isArray(types) ? types.map((type) => type === 'full') : undefined,
      back: (value) =>
        Array.isArray(value) ? { indexer_types: value.map((isFull) => (isFull ? 'full' : 'shared')) } : {},
    },
  ],
  tokenizer: 'glm-moe',
}
