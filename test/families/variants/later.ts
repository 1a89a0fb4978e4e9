// Relatives of known architectures as they came in 2025 and 2026: attention with an indexer, further layers, texts that are filled in.
import {
  attention,
  dense,
  each,
  expertMlps,
  experts,
  headNorms,
  inner,
  mlp,
  norms,
  outer,
  output,
  preNorms,
  type Settings,
  type Shapes,
  type Variant,
  variant,
  vocabulary,
  weights,
  width,
  withBiases,
} from './shapes.js'

const compressed = (layer: string): Shapes =>
  weights(`${layer}.self_attn`, {
    q_a_proj: [5, width],
    q_a_layernorm: [5],
    q_b_proj: [12, 5],
    kv_a_proj_with_mqa: [8, width],
    kv_a_layernorm: [6],
    kv_b_proj: [14, 6],
    o_proj: [width, 6],
  })
const indexer = (layer: string): Shapes => ({
  ...weights(`${layer}.self_attn.indexer`, { wq_b: [4, 5], wk: [2, width], k_norm: [2], weights_proj: [2, width] }),
  [`${layer}.self_attn.indexer.k_norm.bias`]: [2],
})
const routed = (layer: string): Shapes => ({
  ...expertMlps(`${layer}.mlp.experts`, 6),
  ...mlp(`${layer}.mlp.shared_experts`, 6),
  [`${layer}.mlp.gate.weight`]: [experts, width],
  [`${layer}.mlp.gate.e_score_correction_bias`]: [experts],
})
const further = (layer: string): Shapes => ({
  ...weights(layer, { eh_proj: [width, 2 * width], enorm: [width], hnorm: [width] }),
  ...weights(`${layer}.shared_head`, { norm: [width] }),
})
const third = 'model.layers.2'
const sparseAttention: Shapes = {
  ...outer,
  ...output,
  ...each((layer) => ({ ...preNorms(layer), ...compressed(layer), ...indexer(layer) })),
  ...mlp('model.layers.0.mlp'),
  ...routed('model.layers.1'),
  ...preNorms(third),
  ...compressed(third),
  ...indexer(third),
  ...routed(third),
  ...further(third),
}
const sparseSettings: Settings = {
  ...{ num_key_value_heads: 2, q_lora_rank: 5, kv_lora_rank: 6, qk_nope_head_dim: 4, qk_rope_head_dim: 2 },
  ...{ v_head_dim: 3, first_k_dense_replace: 1, n_routed_experts: experts, n_shared_experts: 1, n_group: 1 },
  ...{ topk_group: 1, moe_intermediate_size: 6, num_experts_per_tok: 2, scoring_func: 'sigmoid' },
  ...{ norm_topk_prob: true, routed_scaling_factor: 2.5, num_nextn_predict_layers: 1 },
  ...{ index_n_heads: 2, index_head_dim: 2, index_topk: 16 },
}

const glmShapes: Shapes = {
  ...outer,
  ...output,
  ...each((layer) => ({
    ...preNorms(layer),
    ...norms(layer, 'post_self_attn_layernorm', 'post_mlp_layernorm'),
    ...attention(layer),
    ...weights(`${layer}.mlp`, { gate_up_proj: [2 * inner, width], down_proj: [width, inner] }),
  })),
}
const glmMoe: Shapes = {
  ...outer,
  ...output,
  ...each((layer) => ({ ...preNorms(layer), ...attention(layer) })),
  ...mlp('model.layers.0.mlp'),
  ...routed('model.layers.1'),
}
const glmMoeSettings: Settings = {
  ...{ head_dim: 4, first_k_dense_replace: 1, n_routed_experts: experts, n_shared_experts: 1 },
  ...{ moe_intermediate_size: 6, num_experts_per_tok: 2, norm_topk_prob: true, routed_scaling_factor: 1 },
  ...{ n_group: 1, topk_group: 1 },
}

const llada: Shapes = {
  'model.transformer.wte.weight': [vocabulary, width],
  'model.transformer.ff_out.weight': [vocabulary, width],
  'model.transformer.ln_f.weight': [width],
  ...each(
    (layer) =>
      weights(layer, {
        ...{ attn_norm: [width], ff_norm: [width], q_proj: [width, width], k_proj: [4, width], v_proj: [4, width] },
        ...{ attn_out: [width, width], up_proj: [inner, width], ff_proj: [inner, width], ff_out: [width, inner] },
      }),
    'model.transformer.blocks',
  ),
}

const gemmaTokens = 15
const gemma4: Settings = {
  vocab_size: gemmaTokens,
  moe_intermediate_size: null,
  ...{ head_dim: 4, global_head_dim: 8, sliding_window: 16, layer_types: ['sliding_attention', 'full_attention'] },
  ...{ final_logit_softcapping: 30, rope_theta: undefined },
  rope_parameters: {
    full_attention: { rope_type: 'proportional', rope_theta: 1e6, partial_rotary_factor: 0.25 },
    sliding_attention: { rope_type: 'default', rope_theta: 10000 },
  },
}

/** The second layer sees all of a text, with larger heads. */
const gemma4Layers = (first: number, second: number, kvHeads = 1): Shapes => ({
  ...outer,
  'model.embed_tokens.weight': [gemmaTokens, width],
  ...each((layer) => ({
    ...preNorms(layer),
    ...norms(layer, 'pre_feedforward_layernorm', 'post_feedforward_layernorm'),
    [`${layer}.layer_scalar`]: [1],
  })),
  ...attention('model.layers.0'),
  ...headNorms('model.layers.0'),
  ...mlp('model.layers.0.mlp', first),
  ...weights('model.layers.1.self_attn', {
    q_proj: [16, width],
    k_proj: [8 * kvHeads, width],
    o_proj: [width, 16],
    q_norm: [8],
    k_norm: [8],
  }),
  ...mlp('model.layers.1.mlp', second),
})

const doubled = 2 * width
const nemotronH: Settings = {
  d_head: 4,
  ...{ head_dim: 4, conv_kernel: 4, ssm_state_size: 4, n_groups: 1, mamba_num_heads: 4, mamba_head_dim: 4 },
  ...{ norm_eps: 1e-5, layer_norm_epsilon: 1e-5, rms_norm_eps: undefined, expand: 2 },
}
const nemotronExperts: Settings = {
  ...{ n_routed_experts: experts, n_shared_experts: 1, num_experts_per_tok: 2, moe_intermediate_size: 6 },
  ...{ moe_shared_expert_intermediate_size: 10, norm_topk_prob: true, routed_scaling_factor: 2.5, n_group: 1 },
  topk_group: 1,
}
const nemotronOuter: Shapes = {
  'backbone.embeddings.weight': [vocabulary, width],
  'backbone.norm_f.weight': [width],
  ...output,
}
const ssmMixer = (layer: string): Shapes => ({
  [`${layer}.norm.weight`]: [width],
  ...weights(`${layer}.mixer`, {
    in_proj: [2 * doubled + 8 + 4, width],
    conv1d: [doubled + 8, 1, 4],
    norm: [doubled],
    out_proj: [width, doubled],
  }),
  [`${layer}.mixer.conv1d.bias`]: [doubled + 8],
  [`${layer}.mixer.A_log`]: [4],
  [`${layer}.mixer.D`]: [4],
  [`${layer}.mixer.dt_bias`]: [4],
})
const attentionMixer = (layer: string): Shapes => ({
  [`${layer}.norm.weight`]: [width],
  ...weights(`${layer}.mixer`, { q_proj: [8, width], k_proj: [4, width], v_proj: [4, width], o_proj: [width, 8] }),
})
const expertMixer = (layer: string): Shapes => ({
  [`${layer}.norm.weight`]: [width],
  ...weights(`${layer}.mixer`, { gate: [experts, width] }),
  [`${layer}.mixer.gate.e_score_correction_bias`]: [experts],
  ...weights(`${layer}.mixer.shared_experts`, { up_proj: [10, width], down_proj: [width, 10] }),
  ...Object.assign(
    {},
    ...Array.from({ length: experts }, (_, e) =>
      weights(`${layer}.mixer.experts.${e}`, { up_proj: [6, width], down_proj: [width, 6] }),
    ),
  ),
})

const gated = (layer: string): Shapes => ({ ...preNorms(layer), ...attention(layer), ...headNorms(layer) })

const oneWay = (model: Variant): Variant => ({ ...model, isOneWay: true })
const comingBackAs = (back: Variant['back'], model: Variant): Variant => ({ ...model, back })

export const laterModels: Readonly<Record<string, Variant>> = {
  Dream: variant('DreamModel', 'Dream', { mask_token_id: 7 }, { ...dense, ...output }, 'bpe'),
  LLaDA: variant(
    'LLaDAModelLM',
    'llada',
    {
      ...{ d_model: width, n_heads: 2, n_kv_heads: 1, n_layers: 2, mlp_hidden_size: inner, max_sequence_length: 64 },
      ...{ hidden_size: undefined, num_attention_heads: undefined, num_key_value_heads: undefined },
      ...{ num_hidden_layers: undefined, intermediate_size: undefined, max_position_embeddings: undefined },
    },
    llada,
    'bpe',
  ),
  'LLaDA with experts': oneWay(
    variant(
      'LLaDAMoEModelLM',
      'llada',
      { num_experts: experts, num_experts_per_tok: 2, expert_intermediate_size: 6 },
      {
        ...outer,
        ...output,
        ...each((layer) => ({
          ...gated(layer),
          ...expertMlps(`${layer}.mlp.experts`, 6),
          ...weights(`${layer}.mlp`, { gate: [experts, width] }),
        })),
      },
      'bpe',
    ),
  ),
  'DeepSeek V3.2': variant('DeepseekV32ForCausalLM', 'deepseek_v32', sparseSettings, sparseAttention, 'bpe'),
  'GLM-5': variant(
    'GlmMoeDsaForCausalLM',
    'glm_moe_dsa',
    { ...sparseSettings, indexer_types: ['full', 'shared', 'full'] },
    sparseAttention,
    'glm',
  ),
  'GLM-4.1V': comingBackAs(
    ['Glm4ForCausalLM', 'glm4'],
    variant(
      'Glm4vForConditionalGeneration',
      'glm4v',
      {
        head_dim: undefined,
        text_config: {
          ...{ model_type: 'glm4v_text', hidden_size: width, intermediate_size: inner, num_attention_heads: 2 },
          ...{ num_key_value_heads: 1, num_hidden_layers: 2, max_position_embeddings: 64, rms_norm_eps: 1e-5 },
          ...{ vocab_size: vocabulary, partial_rotary_factor: 0.5 },
          rope_scaling: { rope_type: 'default', mrope_section: [1, 0, 0] },
        },
      },
      Object.fromEntries(
        Object.entries(glmShapes).map(([name, shape]) => [name.replace(/^model\./, 'model.language_model.'), shape]),
      ),
      'glm',
    ),
  ),
  'GLM-4.5V': comingBackAs(
    ['Glm4MoeForCausalLM', 'glm4_moe'],
    variant('Glm4vMoeForConditionalGeneration', 'glm4v_moe_text', glmMoeSettings, glmMoe, 'glm'),
  ),
  'GLM-OCR': variant(
    'GlmOcrForConditionalGeneration',
    'glm_ocr',
    { head_dim: 4, num_nextn_predict_layers: 1 },
    {
      ...glmShapes,
      ...preNorms(third),
      ...norms(third, 'post_self_attn_layernorm', 'post_mlp_layernorm'),
      ...attention(third),
      ...weights(`${third}.mlp`, { gate_up_proj: [2 * inner, width], down_proj: [width, inner] }),
      ...further(third),
    },
    'glm',
  ),
  'Solar Open': variant('SolarOpenForCausalLM', 'solar_open', glmMoeSettings, glmMoe, 'solar'),
  'K-EXAONE': variant(
    'ExaoneMoEForCausalLM',
    'exaone_moe',
    {
      ...{ head_dim: 4, num_experts: experts, num_experts_per_tok: 2, num_shared_experts: 1, moe_intermediate_size: 6 },
      ...{ first_k_dense_replace: 1, norm_topk_prob: true, routed_scaling_factor: 2.5, n_group: 1, topk_group: 1 },
      ...{ sliding_window: 16, sliding_window_pattern: 'LG', scoring_func: 'sigmoid', num_nextn_predict_layers: 1 },
      layer_types: ['sliding_attention', 'full_attention'],
    },
    {
      ...outer,
      ...output,
      ...each(gated),
      ...mlp('model.layers.0.mlp'),
      ...expertMlps('model.layers.1.mlp.experts', 6),
      ...mlp('model.layers.1.mlp.shared_experts', 6),
      'model.layers.1.mlp.gate.weight': [experts, width],
      'model.layers.1.mlp.e_score_correction_bias': [experts],
      ...gated('mtp.layers.0'),
      ...mlp('mtp.layers.0.mlp'),
      ...weights('mtp', {
        fc: [width, 2 * width],
        pre_fc_norm_embedding: [width],
        pre_fc_norm_hidden: [width],
        norm: [width],
      }),
    },
    'bpe',
  ),
  'PaddleOCR-VL': variant(
    'PaddleOCRVLForConditionalGeneration',
    'paddleocr_vl',
    { head_dim: 4, rope_scaling: { type: 'default', rope_type: 'default', mrope_section: [1, 1, 0] } },
    { ...dense, ...output },
    'sentencepiece',
  ),
  Nanbeige: variant(
    'NanbeigeForCausalLM',
    'nanbeige',
    { num_loops: 2, head_dim: 4 },
    { ...dense, ...output },
    'sentencepiece',
  ),
  Pangu: variant(
    'PanguEmbeddedForCausalLM',
    'PanguEmbedded',
    {},
    {
      ...outer,
      ...output,
      ...each((layer) => ({ ...preNorms(layer), ...withBiases(attention(layer)), ...mlp(`${layer}.mlp`) })),
    },
    'sentencepiece',
  ),
  PLM: variant(
    'PLMForCausalLM',
    'plm',
    { num_key_value_heads: 2, kv_lora_rank: 6, qk_nope_head_dim: 4, qk_rope_head_dim: 2, v_head_dim: 3 },
    {
      ...outer,
      ...each((layer) => ({
        ...preNorms(layer),
        ...weights(`${layer}.self_attn`, {
          q_proj: [12, width],
          kv_a_proj_with_mqa: [8, width],
          kv_a_layernorm: [6],
          kv_b_proj: [14, 6],
          o_proj: [width, 6],
        }),
        ...weights(`${layer}.mlp`, { up_proj: [inner, width], down_proj: [width, inner] }),
      })),
    },
    'bpe',
  ),
  'Qwen2-Audio': comingBackAs(
    ['Qwen2ForCausalLM', 'qwen2'],
    variant(
      'Qwen2AudioForConditionalGeneration',
      'qwen2_audio',
      {
        text_config: {
          ...{ model_type: 'qwen2', hidden_size: width, intermediate_size: inner, num_attention_heads: 2 },
          ...{ num_key_value_heads: 1, num_hidden_layers: 2, max_position_embeddings: 64, rms_norm_eps: 1e-5 },
          vocab_size: vocabulary,
        },
      },
      Object.fromEntries(
        Object.entries({ ...dense, ...output }).map(([name, shape]) => [`language_model.${name}`, shape]),
      ),
      'bpe',
    ),
  ),
  'Gemma 4': variant(
    'Gemma4ForCausalLM',
    'gemma4_text',
    { ...gemma4, hidden_size_per_layer_input: 3, num_kv_shared_layers: 1, use_double_wide_mlp: true },
    {
      ...gemma4Layers(inner, 2 * inner),
      'model.embed_tokens_per_layer.weight': [gemmaTokens, 6],
      'model.per_layer_model_projection.weight': [6, width],
      'model.per_layer_projection_norm.weight': [3],
      ...each((layer) =>
        weights(layer, {
          ...{ per_layer_input_gate: [3, width], per_layer_projection: [width, 3], post_per_layer_input_norm: [width] },
        }),
      ),
    },
    'gemma-4',
  ),
  'Gemma 4 with experts': variant(
    'Gemma4ForCausalLM',
    'gemma4_text',
    {
      ...gemma4,
      ...{ num_kv_shared_layers: 0, num_global_key_value_heads: 2, hidden_size_per_layer_input: 0 },
      ...{ num_experts: experts, top_k_experts: 2, moe_intermediate_size: 6 },
    },
    {
      ...gemma4Layers(inner, inner, 2),
      ...each((layer) => ({
        ...norms(
          layer,
          ...['pre_feedforward_layernorm_2', 'post_feedforward_layernorm_1', 'post_feedforward_layernorm_2'],
        ),
        [`${layer}.router.proj.weight`]: [experts, width],
        [`${layer}.router.scale`]: [width],
        [`${layer}.router.per_expert_scale`]: [experts],
        [`${layer}.experts.gate_up_proj`]: [experts, 12, width],
        [`${layer}.experts.down_proj`]: [experts, width, 6],
      })),
    },
    'gemma-4',
  ),
  'Nemotron-H': variant(
    'NemotronHForCausalLM',
    'nemotron_h',
    { ...nemotronH, num_hidden_layers: 3, hybrid_override_pattern: 'M*-', vocab_size: vocabulary - 3 },
    {
      ...nemotronOuter,
      ...ssmMixer('backbone.layers.0'),
      ...attentionMixer('backbone.layers.1'),
      'backbone.layers.2.norm.weight': [width],
      ...weights('backbone.layers.2.mixer', { up_proj: [inner, width], down_proj: [width, inner] }),
    },
    'bpe',
  ),
  'Nemotron 3': variant(
    'NemotronHForCausalLM',
    'nemotron_h',
    { ...nemotronH, ...nemotronExperts, num_hidden_layers: 3, hybrid_override_pattern: 'ME*' },
    {
      ...nemotronOuter,
      ...ssmMixer('backbone.layers.0'),
      ...expertMixer('backbone.layers.1'),
      ...attentionMixer('backbone.layers.2'),
    },
    'bpe',
  ),
  'Nemotron 3 with a further layer': variant(
    'NemotronHForCausalLM',
    'nemotron_h',
    {
      ...nemotronH,
      ...nemotronExperts,
      num_nextn_predict_layers: 1,
      moe_latent_size: 4,
      hybrid_override_pattern: 'M*',
    },
    {
      ...nemotronOuter,
      ...ssmMixer('backbone.layers.0'),
      ...attentionMixer('backbone.layers.1'),
      ...weights('mtp.layers.0', { enorm: [width], hnorm: [width], eh_proj: [width, 2 * width] }),
      ...attentionMixer('mtp.layers.0'),
      ...expertMixer('mtp.layers.1'),
      'mtp.layers.1.final_layernorm.weight': [width],
      ...weights('mtp.layers.1.mixer', { fc1_latent_proj: [4, width], fc2_latent_proj: [width, 4] }),
    },
    'bpe',
  ),
}
