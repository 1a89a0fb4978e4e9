// Gemma 3n, Falcon-H1 and Qwen3-Next: layers that are built of more than attention and one feed-forward part.
import {
  attention,
  doubled,
  each,
  expertMlps,
  experts,
  headNorms,
  inner,
  mamba2,
  mlp,
  norms,
  outer,
  output,
  preNorms,
  type Shapes,
  state,
  type Variant,
  variant,
  vocabulary,
  weights,
  width,
} from './shapes.js'

const small = 3
const rank = 2

const altup = (layer: string): Shapes => ({
  ...norms(
    layer,
    ...['input_layernorm', 'post_attention_layernorm', 'pre_feedforward_layernorm', 'post_feedforward_layernorm'],
    'post_per_layer_input_norm',
  ),
  ...attention(layer),
  ...headNorms(layer),
  ...mlp(`${layer}.mlp`),
  ...weights(layer, { per_layer_input_gate: [small, width], per_layer_projection: [width, small] }),
  ...weights(`${layer}.altup`, {
    correction_coefs: [4, 4],
    prediction_coefs: [16, 4],
    modality_router: [4, width],
    router_norm: [width],
  }),
  [`${layer}.altup.correct_output_scale`]: [width],
  ...weights(`${layer}.laurel`, {
    linear_left: [rank, width],
    linear_right: [width, rank],
    post_laurel_norm: [width],
  }),
})

const gemma3n = (count: number): Shapes => ({
  'model.embed_tokens.weight': [count, width],
  'model.embed_tokens_per_layer.weight': [count - 8, 2 * small],
  'model.norm.weight': [width],
  ...weights('model', { per_layer_model_projection: [2 * small, width], per_layer_projection_norm: [small] }),
  ...Object.assign(
    {},
    ...[0, 1, 2].flatMap((i) => [
      weights('model', { [`altup_projections.${i}`]: [width, width] }),
      weights('model', { [`altup_unembed_projections.${i}`]: [width, width] }),
    ]),
  ),
  ...each(altup),
})

const linear = (layer: string): Shapes => ({
  ...weights(`${layer}.linear_attn`, {
    in_proj_qkvz: [2 * (2 * 4 + 2 * 2 * 3), width],
    in_proj_ba: [8, width],
    conv1d: [2 * 2 * 4 + 4 * 3, 1, 4],
    norm: [3],
    out_proj: [width, 4 * 3],
  }),
  [`${layer}.linear_attn.A_log`]: [4],
  [`${layer}.linear_attn.dt_bias`]: [4],
})

const gated = (layer: string): Shapes => ({
  ...attention(layer),
  [`${layer}.self_attn.q_proj.weight`]: [2 * width, width],
  ...headNorms(layer),
})

const sparse = (layer: string): Shapes => ({
  ...preNorms(layer),
  ...weights(`${layer}.mlp`, { gate: [experts, width], shared_expert_gate: [1, width] }),
  ...mlp(`${layer}.mlp.shared_expert`, 6),
  ...expertMlps(`${layer}.mlp.experts`, 6),
})

const turns = (layer: string): Shapes => ({
  ...weights(`${layer}.linear_attn`, {
    in_proj_qkv: [2 * 2 * 4 + 4 * 3, width],
    in_proj_z: [4 * 3, width],
    in_proj_a: [4, width],
    in_proj_b: [4, width],
    conv1d: [2 * 2 * 4 + 4 * 3, 1, 4],
    norm: [3],
    out_proj: [width, 4 * 3],
  }),
  [`${layer}.linear_attn.A_log`]: [4],
  [`${layer}.linear_attn.dt_bias`]: [4],
})

const qwen35 = (feedForward: (layer: string) => Shapes): Shapes => ({
  ...outer,
  ...output,
  ...turns('model.layers.0'),
  ...gated('model.layers.1'),
  ...each((layer) => ({ ...preNorms(layer), ...feedForward(layer) })),
  ...weights('mtp', {
    fc: [width, 2 * width],
    pre_fc_norm_embedding: [width],
    pre_fc_norm_hidden: [width],
    norm: [width],
  }),
  ...gated('mtp.layers.0'),
  ...preNorms('mtp.layers.0'),
  ...feedForward('mtp.layers.0'),
})

const linearSettings = {
  ...{ head_dim: 4, linear_conv_kernel_dim: 4, linear_key_head_dim: 4, linear_value_head_dim: 3 },
  ...{ linear_num_key_heads: 2, linear_num_value_heads: 4, mtp_num_hidden_layers: 1 },
}

export const streamModels: Readonly<Record<string, Variant>> = {
  'Gemma 3n': variant(
    'Gemma3nForCausalLM',
    'gemma3n_text',
    {
      ...{ head_dim: 4, hidden_size_per_layer_input: small, num_kv_shared_layers: 1, laurel_rank: rank },
      ...{ sliding_window: 16, layer_types: ['sliding_attention', 'full_attention'] },
      activation_sparsity_pattern: [0.95, 0],
    },
    gemma3n(vocabulary),
    'sentencepiece',
  ),
  'Falcon-H1': variant(
    'FalconH1ForCausalLM',
    'falcon_h1',
    {
      ...{ head_dim: 4, mamba_d_conv: 4, mamba_d_head: 4, mamba_d_ssm: doubled, mamba_d_state: state },
      ...{ mamba_n_groups: 1, mamba_n_heads: 4, mamba_expand: 2 },
      ...{ attention_in_multiplier: 1.1, attention_out_multiplier: 0.9375, embedding_multiplier: 5.656854249492381 },
      ...{ key_multiplier: 0.39, lm_head_multiplier: 0.0390625, mlp_multipliers: [0.8838834764831844, 0.585] },
      ...{ ssm_in_multiplier: 1.25, ssm_multipliers: [0.353, 0.25, 0.177, 0.5, 0.354], ssm_out_multiplier: 0.2357 },
    },
    {
      'model.embed_tokens.weight': [vocabulary, width],
      'model.final_layernorm.weight': [width],
      ...output,
      ...each((layer) => ({
        ...norms(layer, 'input_layernorm', 'pre_ff_layernorm'),
        ...attention(layer),
        ...mlp(`${layer}.feed_forward`, inner),
        ...mamba2(`${layer}.mamba`),
      })),
    },
    'bpe',
  ),
  'Qwen3-Next': variant(
    'Qwen3NextForCausalLM',
    'qwen3_next',
    {
      ...{ head_dim: 4, num_experts: experts, num_experts_per_tok: 2, moe_intermediate_size: 6 },
      ...{ linear_conv_kernel_dim: 4, linear_key_head_dim: 4, linear_value_head_dim: 3 },
      ...{ linear_num_key_heads: 2, linear_num_value_heads: 4, shared_expert_intermediate_size: 6 },
      ...{ layer_types: ['linear_attention', 'full_attention'], partial_rotary_factor: 0.5 },
    },
    {
      ...outer,
      ...output,
      ...linear('model.layers.0'),
      ...gated('model.layers.1'),
      ...each(sparse),
      ...weights('mtp', {
        fc: [width, 2 * width],
        pre_fc_norm_embedding: [width],
        pre_fc_norm_hidden: [width],
        norm: [width],
      }),
      ...gated('mtp.layers.0'),
      ...sparse('mtp.layers.0'),
    },
    'bpe',
  ),
  'Qwen3.5': variant(
    'Qwen3_5ForConditionalGeneration',
    'qwen3_5',
    { ...linearSettings, rope_parameters: { rope_theta: 1e6, partial_rotary_factor: 0.5, mrope_section: [1, 1, 0] } },
    qwen35((layer) => mlp(`${layer}.mlp`)),
    'bpe',
  ),
  'Qwen3.5 with experts': variant(
    'Qwen3_5MoeForConditionalGeneration',
    'qwen3_5_moe',
    {
      ...linearSettings,
      ...{ num_experts: experts, num_experts_per_tok: 2, moe_intermediate_size: 6, shared_expert_intermediate_size: 6 },
    },
    qwen35((layer) => ({
      ...weights(`${layer}.mlp`, { gate: [experts, width], shared_expert_gate: [1, width] }),
      ...mlp(`${layer}.mlp.shared_expert`, 6),
      [`${layer}.mlp.experts.gate_up_proj`]: [experts, 12, width],
      [`${layer}.mlp.experts.down_proj`]: [experts, width, 6],
    })),
    'bpe',
  ),
}
