// HunYuan, dense: norms on q and k under names of its own, and RoPE that is scaled by a power.
import { headSize, heads, num, numberIn } from '../../facts.js'
import type { Config, Facts, Family, KeyRule } from '../../family.js'
import { commonKeys } from '../shared-keys.js'
import { attentionNames, gatedMlpNames, outerNames, preNormNames } from '../shared-names.js'

const longContext = 256 * 1024
const isScaled = (rope: Config): boolean => rope.rope_type === 'dynamic' || rope.rope_type === 'xdrope'
const isLong = ({ rope }: Facts): boolean => rope.rope_type === 'dynamic'

/** Entries of scaled models stand for settings that the others do not tell apart. */
const scaled = (rule: KeyRule): KeyRule => ({ back: () => ({}), ...rule })

export const hunyuanDense: Family = {
  architecture: 'hunyuan-dense',
  classes: ['HunYuanDenseV1ForCausalLM'],
  configs: {
    hunyuan_v1_dense: {
      num_hidden_layers: 32,
      max_position_embeddings: 2048,
      max_length: 20,
      hidden_size: 4096,
      intermediate_size: 11008,
      num_attention_heads: 32,
      num_key_value_heads: heads,
      head_dim: null,
      rms_norm_eps: 1e-5,
      rope_theta: 10000,
      rope_scaling: null,
      vocab_size: 290943,
    },
  },
  // The configuration class does not keep the end of a document; where it is not the one in use, config.json counts as it is.
  settle: ({ num_experts: _, eod_token_id, ...stated }) =>
    stated.model_type === 'hunyuan_v1_dense' ? stated : { ...stated, ...(eod_token_id != null && { eod_token_id }) },
  keys: [
    ...commonKeys,
    scaled({
      key: 'rope.freq_base',
      type: 'f32',
      // A scaled base is a base like any other.
      back: (value) => ({ rope_theta: value }),
      value: ({ config, rope }) => {
        if (!isScaled(rope)) return undefined
        const size = numberIn(config, 'head_dim') ?? headSize(config)
        const [theta, alpha] = [num({ rope_theta: 10000, ...rope }, 'rope_theta'), num({ alpha: 50, ...rope }, 'alpha')]
        return theta * alpha ** (size / (size - 2))
      },
    }),
    scaled({ key: 'rope.scaling.type', type: 'str', value: ({ rope }) => (isScaled(rope) ? 'none' : undefined) }),
    scaled({ key: 'rope.scaling.factor', type: 'f32', value: ({ rope }) => (isScaled(rope) ? 1 : undefined) }),
    scaled({
      key: 'rope.scaling.original_context_length',
      type: 'u32',
      value: (facts) => (isLong(facts) ? longContext : undefined),
    }),
    scaled({
      key: 'context_length',
      type: 'u32',
      value: (facts) => (isLong(facts) ? longContext : undefined),
      back: (value) => ({ max_position_embeddings: value }),
    }),
  ],
  tensors: {
    ...outerNames,
    ...preNormNames,
    ...attentionNames,
    'model.layers.{n}.self_attn.query_layernorm': 'blk.{n}.attn_q_norm',
    'model.layers.{n}.self_attn.key_layernorm': 'blk.{n}.attn_k_norm',
    ...gatedMlpNames,
  },
  dropsTiedOutput: true,
  tokenizer: 'hunyuan',
}
