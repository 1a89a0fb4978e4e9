// Llama 4, the part that reads text: layers with experts among dense ones.
import { headSize, heads, num } from '../../facts.js'
import type { Config, Family } from '../../family.js'
import { llamaKeys } from '../decoders/llama.js'
import { key } from '../shared-keys.js'
import { attentionNames, outerNames, preNormNames } from '../shared-names.js'

/** The file calls the size of the experts what others call the size of the dense layers. */
const settleSizes = (config: Config): Config => ({
  ...config,
  intermediate_size_moe: config.intermediate_size,
  intermediate_size: config.intermediate_size_mlp,
})

const stateSizes = ({ intermediate_size_moe: ofExperts, ...config }: Config): Config => ({
  ...config,
  intermediate_size: ofExperts,
  intermediate_size_mlp: config.intermediate_size,
})

/** Every fourth layer sees everything, unless the file says otherwise. */
function layerTypes(config: Config): readonly string[] {
  const stated = config.no_rope_layers
  if (Array.isArray(stated) && stated.length > 0)
    return stated.map((rotates) => (rotates ? 'chunked_attention' : 'full_attention'))
  const interval = num({ no_rope_layer_interval: 4, ...config }, 'no_rope_layer_interval')
  const layers = Math.min(num(config, 'num_hidden_layers') || 0, 10_000)
  return Array.from({ length: layers }, (_, i) => ((i + 1) % interval ? 'chunked_attention' : 'full_attention'))
}

const mlp = 'model.layers.{n}.feed_forward'

export const llama4: Family = {
  architecture: 'llama4',
  classes: ['Llama4ForCausalLM', 'Llama4ForConditionalGeneration'],
  configs: {
    llama4_text: {
      num_hidden_layers: 48,
      max_position_embeddings: 131072,
      max_length: 20,
      hidden_size: 5120,
      intermediate_size: 8192,
      intermediate_size_mlp: 16384,
      num_attention_heads: 40,
      num_key_value_heads: [8, heads],
      head_dim: [128, headSize],
      rope_theta: 500000,
      rope_scaling: null,
      rms_norm_eps: 1e-5,
      vocab_size: 202048,
      num_local_experts: 16,
      num_experts_per_tok: 1,
      interleave_moe_layer_step: 1,
      layer_types: layerTypes,
    },
  },
  settle: settleSizes,
  unsettle: stateSizes,
  keys: [
    ...llamaKeys,
    { key: 'interleave_moe_layer_step', type: 'u32', from: ['interleave_moe_layer_step'], required: true },
    { ...key.expertFeedForward, from: ['intermediate_size_moe'] },
    {
      key: 'attention.sliding_window',
      type: 'u32',
      value: ({ config: { layer_types: types } }) =>
        Array.isArray(types) && types.every((type) => type === 'full_attention') ? 0 : undefined,
      back: (_, config) => ({ layer_types: Array(num(config, 'num_hidden_layers')).fill('full_attention') }),
    },
  ],
  tensors: {
    ...outerNames,
    ...preNormNames,
    ...attentionNames,
    [`${mlp}.gate_proj`]: 'blk.{n}.ffn_gate',
    [`${mlp}.up_proj`]: 'blk.{n}.ffn_up',
    [`${mlp}.down_proj`]: 'blk.{n}.ffn_down',
    [`${mlp}.router`]: 'blk.{n}.ffn_gate_inp',
    [`${mlp}.experts.gate_up_proj`]: {
      to: ['blk.{n}.ffn_gate_exps.weight', 'blk.{n}.ffn_up_exps.weight'],
      by: 'transpose-split-halves',
    },
    [`${mlp}.experts.down_proj`]: { to: 'blk.{n}.ffn_down_exps.weight', by: 'transpose-last' },
    [`${mlp}.shared_expert.gate_proj`]: 'blk.{n}.ffn_gate_shexp',
    [`${mlp}.shared_expert.up_proj`]: 'blk.{n}.ffn_up_shexp',
    [`${mlp}.shared_expert.down_proj`]: 'blk.{n}.ffn_down_shexp',
  },
  computed: 'rope-freqs',
  tokenizer: 'bpe',
}
