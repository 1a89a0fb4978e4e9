// Models whose layers carry a state or convolve, alone or beside attention, and relatives with experts.
import {
  attention,
  dense,
  each,
  expertMlps,
  experts,
  inner,
  mlp,
  norms,
  output,
  preNorms,
  type Shapes,
  type Variant,
  variant,
  vocabulary,
  weights,
  width,
} from './shapes.js'

const state = 4
const doubled = 2 * width

/** The part of a layer that carries a state, under the names of Mamba. */
const mixer = (prefix: string): Shapes => ({
  ...weights(prefix, {
    in_proj: [2 * doubled, width],
    conv1d: [doubled, 1, 4],
    x_proj: [1 + 2 * state, doubled],
    dt_proj: [doubled, 1],
    out_proj: [width, doubled],
  }),
  [`${prefix}.conv1d.bias`]: [doubled],
  [`${prefix}.dt_proj.bias`]: [doubled],
  [`${prefix}.A_log`]: [doubled, state],
  [`${prefix}.D`]: [doubled],
})

const backbone: Shapes = { 'backbone.embeddings.weight': [vocabulary, width], 'backbone.norm_f.weight': [width] }

export const hybridModels: Readonly<Record<string, Variant>> = {
  'Mamba 2': variant(
    'Mamba2ForCausalLM',
    'mamba2',
    {
      state_size: state,
      head_dim: 4,
      num_heads: 4,
      n_groups: 2,
      expand: 2,
      conv_kernel: 4,
      intermediate_size: doubled,
      layer_norm_epsilon: 1e-5,
    },
    {
      ...backbone,
      ...each(
        (layer) => ({
          ...norms(layer, 'norm'),
          ...weights(`${layer}.mixer`, {
            in_proj: [2 * doubled + 4 * state + 4, width],
            conv1d: [doubled + 4 * state, 1, 4],
            norm: [doubled],
            out_proj: [width, doubled],
          }),
          [`${layer}.mixer.conv1d.bias`]: [doubled + 4 * state],
          [`${layer}.mixer.A_log`]: [4],
          [`${layer}.mixer.D`]: [4],
          [`${layer}.mixer.dt_bias`]: [4],
        }),
        'backbone.layers',
      ),
    },
    'bpe',
  ),
  Mamba: variant(
    'MambaForCausalLM',
    'mamba',
    { state_size: state, time_step_rank: 1, conv_kernel: 4, intermediate_size: doubled, layer_norm_epsilon: 1e-5 },
    {
      ...backbone,
      ...each((layer) => ({ ...norms(layer, 'norm'), ...mixer(`${layer}.mixer`) }), 'backbone.layers'),
    },
    'bpe',
  ),
  LFM2: variant(
    'Lfm2ForCausalLM',
    'lfm2',
    { layer_types: ['conv', 'full_attention'], norm_eps: 1e-5, conv_L_cache: 3, block_auto_adjust_ff_dim: false },
    {
      'model.embed_tokens.weight': [vocabulary, width],
      'model.embedding_norm.weight': [width],
      ...weights('model.layers.0.conv', { conv: [width, 1, 3], in_proj: [3 * width, width], out_proj: [width, width] }),
      ...weights('model.layers.1.self_attn', {
        q_proj: [width, width],
        k_proj: [4, width],
        v_proj: [4, width],
        out_proj: [width, width],
        q_layernorm: [4],
        k_layernorm: [4],
      }),
      ...each((layer) => ({
        ...norms(layer, 'operator_norm', 'ffn_norm'),
        ...weights(`${layer}.feed_forward`, { w1: [inner, width], w3: [inner, width], w2: [width, inner] }),
      })),
    },
    'bpe',
  ),
  Jamba: variant(
    'JambaForCausalLM',
    'jamba',
    {
      attn_layer_offset: 1,
      attn_layer_period: 2,
      expert_layer_offset: 1,
      expert_layer_period: 2,
      num_experts: experts,
      num_experts_per_tok: 1,
      mamba_d_state: state,
      mamba_dt_rank: 1,
      mamba_expand: 2,
      mamba_d_conv: 4,
    },
    {
      'model.embed_tokens.weight': [vocabulary, width],
      'model.final_layernorm.weight': [width],
      ...output,
      ...mixer('model.layers.0.mamba'),
      ...attention('model.layers.1'),
      ...mlp('model.layers.0.feed_forward'),
      ...expertMlps('model.layers.1.feed_forward.experts', inner),
      'model.layers.1.feed_forward.router.weight': [experts, width],
      ...each((layer) => norms(layer, 'input_layernorm', 'pre_ff_layernorm')),
    },
    'sentencepiece',
  ),
  'Ling 2': variant(
    'BailingMoeV2ForCausalLM',
    'bailing_moe',
    {
      num_experts: experts,
      num_experts_per_tok: 2,
      num_shared_experts: 1,
      moe_intermediate_size: 6,
      first_k_dense_replace: 1,
      norm_topk_prob: true,
      routed_scaling_factor: 2.5,
      partial_rotary_factor: 0.5,
      head_dim: 4,
      moe_shared_expert_intermediate_size: 6,
    },
    {
      'model.word_embeddings.weight': [vocabulary, width],
      'model.norm.weight': [width],
      ...output,
      ...each((layer) => ({
        ...preNorms(layer),
        ...weights(`${layer}.attention`, {
          query_key_value: [16, width],
          dense: [width, width],
          query_layernorm: [4],
          key_layernorm: [4],
        }),
      })),
      ...mlp('model.layers.0.mlp'),
      ...expertMlps('model.layers.1.mlp.experts', 6),
      ...mlp('model.layers.1.mlp.shared_experts', 6),
      'model.layers.1.mlp.gate.weight': [experts, width],
      'model.layers.1.mlp.gate.expert_bias': [experts],
    },
    'bpe',
  ),
  'Qwen 2 VL': variant(
    'Qwen2VLForConditionalGeneration',
    'qwen2_vl',
    { rope_scaling: { rope_type: 'default', mrope_section: [1, 1, 0, 0] } },
    { ...dense, ...output },
    'bpe',
  ),
  'Mistral Small 3': variant(
    'Mistral3ForConditionalGeneration',
    'mistral3',
    { head_dim: 4 },
    { ...dense, ...output },
    'sentencepiece',
  ),
}
