// Models that mix attention with states, and relatives of known ones with experts, as they came in 2025.

import {
  attention,
  dense,
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
  type Settings,
  type Shapes,
  state,
  type Variant,
  variant,
  vocabulary,
  weights,
  width,
} from './shapes.js'
import { sparseModels } from './sparse.js'

const granite: Settings = {
  attention_multiplier: 0.0078125,
  embedding_multiplier: 12,
  residual_multiplier: 0.22,
  logits_scaling: 8,
  shared_intermediate_size: inner,
  mamba_d_conv: 4,
  mamba_d_state: state,
  mamba_n_groups: 1,
  mamba_n_heads: 4,
  mamba_d_head: 4,
  mamba_expand: 2,
  head_dim: undefined,
}
const mixed = { ...granite, layer_types: ['mamba', 'attention'], position_embedding_type: 'nope' }
const sparse = { num_local_experts: experts, num_experts_per_tok: 2 }
const dense0 = { num_local_experts: 0, num_experts_per_tok: 0 }

const sharedMlp = (layer: string): Shapes =>
  weights(`${layer}.shared_mlp`, { input_linear: [2 * inner, width], output_linear: [width, inner] })
const graniteExperts = (layer: string): Shapes =>
  weights(`${layer}.block_sparse_moe`, {
    input_linear: [experts, 2 * inner, width],
    output_linear: [experts, width, inner],
    'router.layer': [experts, width],
  })
const mixedLayers: Shapes = {
  ...outer,
  ...mamba2('model.layers.0.mamba'),
  ...attention('model.layers.1'),
  ...each((layer) => ({ ...preNorms(layer), ...sharedMlp(layer) })),
}
const attentionLayers: Shapes = {
  ...outer,
  ...each((layer) => ({ ...preNorms(layer), ...attention(layer), ...sharedMlp(layer) })),
}
const graniteHybrid = (settings: Settings, shapes: Shapes): Variant =>
  variant('GraniteMoeHybridForCausalLM', 'granitemoehybrid', settings, shapes, 'bpe')

export const recentModels: Readonly<Record<string, Variant>> = {
  'Granite 4': graniteHybrid({ ...mixed, ...sparse }, { ...mixedLayers, ...each(graniteExperts) }),
  'Granite 4, dense': graniteHybrid({ ...mixed, ...dense0, tie_word_embeddings: true }, mixedLayers),
  'Granite 4 without Mamba': graniteHybrid(
    { ...granite, ...dense0, layer_types: ['attention', 'attention'], position_embedding_type: 'rope' },
    attentionLayers,
  ),
  'Granite 4 with experts, without Mamba': graniteHybrid(
    { ...granite, ...sparse, layer_types: ['attention', 'attention'], position_embedding_type: 'rope' },
    { ...attentionLayers, ...each(graniteExperts) },
  ),
  Bamba: variant(
    'BambaForCausalLM',
    'bamba',
    {
      ...{
        mamba_d_conv: 4,
        mamba_d_state: state,
        mamba_n_groups: 1,
        mamba_n_heads: 4,
        mamba_d_head: 4,
        mamba_expand: 2,
      },
      ...{ attn_layer_indices: [1], attn_rotary_emb: 2, vocab_size: vocabulary - 3 },
    },
    {
      'model.embed_tokens.weight': [vocabulary, width],
      'model.final_layernorm.weight': [width],
      ...output,
      ...mamba2('model.layers.0.mamba'),
      ...attention('model.layers.1'),
      ...each((layer) => ({ ...norms(layer, 'input_layernorm', 'pre_ff_layernorm'), ...mlp(`${layer}.feed_forward`) })),
    },
    'bpe',
  ),
  MiniMax: variant(
    'MiniMaxM2ForCausalLM',
    'minimax_m2',
    {
      ...{ head_dim: 4, rotary_dim: 2, num_local_experts: experts, num_experts_per_tok: 2, scoring_func: 'sigmoid' },
      intermediate_size: 6,
    },
    {
      ...outer,
      ...output,
      ...each((layer) => ({
        ...preNorms(layer),
        ...attention(layer),
        ...weights(`${layer}.self_attn`, { q_norm: [8], k_norm: [4] }),
        ...weights(`${layer}.block_sparse_moe`, { gate: [experts, width] }),
        [`${layer}.block_sparse_moe.e_score_correction_bias`]: [experts],
        ...Object.assign(
          {},
          ...Array.from({ length: experts }, (_, e) =>
            weights(`${layer}.block_sparse_moe.experts.${e}`, { w1: [6, width], w2: [width, 6], w3: [6, width] }),
          ),
        ),
      })),
    },
    'bpe',
  ),
  RND1: variant(
    'RND1',
    'rnd1',
    { num_experts: experts, num_experts_per_tok: 2, moe_intermediate_size: 6, head_dim: 4, mask_token_id: 7 },
    {
      ...outer,
      ...output,
      ...each((layer) => ({
        ...preNorms(layer),
        ...attention(layer),
        ...headNorms(layer),
        ...weights(`${layer}.mlp`, { gate: [experts, width] }),
        ...expertMlps(`${layer}.mlp.experts`, 6),
      })),
    },
    'bpe',
  ),
  GroveMoE: variant(
    'GroveMoeForCausalLM',
    'grove_moe',
    { num_experts: 4, num_experts_per_tok: 2, moe_intermediate_size: 6, head_dim: 4 },
    {
      ...outer,
      ...output,
      ...each((layer) => ({
        ...preNorms(layer),
        ...attention(layer),
        ...headNorms(layer),
        ...weights(`${layer}.mlp`, { gate: [4, width] }),
        ...Object.assign({}, ...[0, 1, 2, 3].map((e) => mlp(`${layer}.mlp.experts.${e}`, 6))),
        ...Object.assign({}, ...[0, 1].map((e) => mlp(`${layer}.mlp.chunk_experts.${e}`, 4))),
      })),
    },
    'bpe',
  ),
  SmallThinker: variant(
    'SmallThinkerForCausalLM',
    'smallthinker',
    {
      ...{ head_dim: 4, moe_num_primary_experts: experts, moe_num_active_primary_experts: 2, moe_ffn_hidden_size: 6 },
      ...{ sliding_window_layout: [0, 1], sliding_window_size: 16, intermediate_size: undefined },
      ...{ moe_primary_router_apply_softmax: false },
    },
    {
      ...outer,
      ...output,
      ...each((layer) => ({
        ...preNorms(layer),
        ...attention(layer),
        ...weights(`${layer}.block_sparse_moe`, { primary_router: [experts, width] }),
        ...Object.assign(
          {},
          ...Array.from({ length: experts }, (_, e) =>
            weights(`${layer}.block_sparse_moe.experts.${e}`, {
              down: [width, 6],
              gate: [6, width],
              up: [6, width],
            }),
          ),
        ),
      })),
    },
    'bpe',
  ),
  Mellum: variant(
    'MellumForCausalLM',
    'mellum',
    {
      ...{ num_experts: experts, num_experts_per_tok: 2, moe_intermediate_size: 6, head_dim: 4 },
      ...{ sliding_window: 16, layer_types: ['sliding_attention', 'full_attention'] },
    },
    {
      ...outer,
      ...output,
      ...each((layer) => ({
        ...preNorms(layer),
        ...attention(layer),
        ...headNorms(layer),
        ...weights(`${layer}.mlp`, { gate: [experts, width] }),
        ...expertMlps(`${layer}.mlp.experts`, 6),
      })),
    },
    'bpe',
  ),
  Trinity: variant(
    'AfmoeForCausalLM',
    'afmoe',
    {
      ...{ num_experts: experts, num_experts_per_tok: 2, moe_intermediate_size: 6, head_dim: 4, num_dense_layers: 1 },
      ...{ num_shared_experts: 1, route_norm: true, route_scale: 2.5, score_func: 'sigmoid', sliding_window: 16 },
    },
    {
      ...outer,
      ...output,
      ...each((layer) => ({
        ...norms(layer, 'input_layernorm', 'post_attention_layernorm', 'pre_mlp_layernorm', 'post_mlp_layernorm'),
        ...attention(layer),
        ...weights(`${layer}.self_attn`, { q_norm: [4], k_norm: [4], gate_proj: [width, width] }),
      })),
      ...mlp('model.layers.0.mlp'),
      ...expertMlps('model.layers.1.mlp.experts', 6),
      ...mlp('model.layers.1.mlp.shared_experts', 6),
      'model.layers.1.mlp.router.gate.weight': [experts, width],
      'model.layers.1.mlp.expert_bias': [experts],
    },
    'bpe',
  ),
  Maincoder: variant(
    'MaincoderForCausalLM',
    'maincoder',
    { head_dim: 4 },
    { ...dense, ...output, ...each(headNorms) },
    'bpe',
  ),
  'DeepSeek V3 with a null': {
    ...sparseModels['DeepSeek V3']!,
    config: { ...sparseModels['DeepSeek V3']!.config, head_dim: null },
  },
  'GLM-4.7 Flash': {
    ...sparseModels['DeepSeek V3']!,
    config: {
      ...sparseModels['DeepSeek V3']!.config,
      ...{ architectures: ['Glm4MoeLiteForCausalLM'], model_type: 'glm4_moe_lite', num_nextn_predict_layers: 0 },
    },
    tokenizer: 'glm',
  },
  'Gemma 3 with a null': variant(
    'Gemma3ForCausalLM',
    'gemma3_text',
    { head_dim: 4, sliding_window: 16, rope_theta: null },
    {
      ...outer,
      ...each((layer) => ({
        ...preNorms(layer),
        ...norms(layer, 'pre_feedforward_layernorm', 'post_feedforward_layernorm'),
        ...attention(layer),
        ...headNorms(layer),
        ...mlp(`${layer}.mlp`),
      })),
    },
    'sentencepiece',
  ),
  EuroBERT: variant('EuroBertModel', 'eurobert', {}, withoutPrefix(dense), 'bpe'),
}

function withoutPrefix(shapes: Shapes): Shapes {
  return Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name.replace(/^model\./, ''), shape]))
}
