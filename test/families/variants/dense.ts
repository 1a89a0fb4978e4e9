// Decoders that are built like Llama, more or less.
import {
  attention,
  dense,
  each,
  embedding,
  inner,
  mlp,
  norms,
  outer,
  output,
  preNorms,
  type Variant,
  variant,
  vocabulary,
  weights,
  width,
  withBiases,
} from './shapes.js'

export const denseModels: Readonly<Record<string, Variant>> = {
  'Llama with YaRN': variant(
    'LlamaForCausalLM',
    'llama',
    { rope_scaling: { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 16, beta_fast: 16 } },
    dense,
    'sentencepiece',
  ),
  'Llama 3 with other limits': variant(
    'LlamaForCausalLM',
    'llama',
    {
      head_dim: 32,
      rope_theta: 50000,
      rope_scaling: {
        rope_type: 'llama3',
        factor: 16,
        low_freq_factor: 2,
        high_freq_factor: 12,
        original_max_position_embeddings: 6000,
      },
    },
    {
      ...outer,
      ...output,
      ...each((layer) => ({ ...preNorms(layer), ...attention(layer, 32), ...mlp(`${layer}.mlp`) })),
    },
    'sentencepiece',
  ),
  'Mistral without a size of heads': variant('MistralForCausalLM', 'mistral', {}, dense, 'sentencepiece'),
  SmolLM3: variant('SmolLM3ForCausalLM', 'smollm3', { num_key_value_heads: 1 }, dense, 'sentencepiece'),
  'Seed-OSS': variant(
    'SeedOssForCausalLM',
    'seed_oss',
    { head_dim: 4 },
    {
      ...outer,
      ...output,
      ...each((layer) => ({ ...preNorms(layer), ...withBiases(attention(layer)), ...mlp(`${layer}.mlp`) })),
    },
    'bpe',
  ),
  'OLMo 1': variant(
    'OlmoForCausalLM',
    'olmo',
    { clip_qkv: 8, rms_norm_eps: undefined },
    { ...embedding, ...output, ...each((layer) => ({ ...attention(layer), ...mlp(`${layer}.mlp`) })) },
    'bpe',
  ),
  'Gemma 1': variant('GemmaForCausalLM', 'gemma', { head_dim: 4 }, dense, 'sentencepiece'),
  'Command R 7B': variant(
    'Cohere2ForCausalLM',
    'cohere2',
    {
      rotary_pct: 1,
      layer_norm_eps: 1e-5,
      logit_scale: 0.25,
      sliding_window: 16,
      head_dim: 4,
      rms_norm_eps: undefined,
    },
    {
      ...outer,
      ...each((layer) => ({ ...norms(layer, 'input_layernorm'), ...attention(layer), ...mlp(`${layer}.mlp`) })),
    },
    'bpe',
  ),
  'OLMo 3': variant(
    'Olmo3ForCausalLM',
    'olmo3',
    { sliding_window: 16, layer_types: ['sliding_attention', 'full_attention'] },
    {
      ...outer,
      ...output,
      ...each((layer) => ({
        ...norms(layer, 'post_attention_layernorm', 'post_feedforward_layernorm'),
        ...attention(layer),
        ...weights(`${layer}.self_attn`, { q_norm: [8], k_norm: [4] }),
        ...mlp(`${layer}.mlp`),
      })),
    },
    'bpe',
  ),
  'Phi 4': variant(
    'Phi3ForCausalLM',
    'phi3',
    { original_max_position_embeddings: 64, sliding_window: null },
    {
      ...outer,
      ...output,
      ...each((layer) => ({
        ...preNorms(layer),
        ...weights(layer, {
          'self_attn.qkv_proj': [16, width],
          'self_attn.o_proj': [width, width],
          'mlp.gate_up_proj': [2 * inner, width],
          'mlp.down_proj': [width, inner],
        }),
      })),
    },
    'bpe',
  ),
  'EXAONE 3': variant(
    'ExaoneForCausalLM',
    'exaone',
    { num_layers: 2, head_dim: 4, layer_norm_epsilon: 1e-5, num_hidden_layers: undefined, rms_norm_eps: undefined },
    {
      ...weights('transformer', { wte: [vocabulary, width], ln_f: [width] }),
      ...output,
      ...each(
        (layer) => ({
          ...norms(layer, 'ln_1', 'ln_2'),
          ...weights(layer, {
            'attn.attention.q_proj': [8, width],
            'attn.attention.k_proj': [4, width],
            'attn.attention.v_proj': [4, width],
            'attn.attention.out_proj': [width, 8],
            'mlp.c_fc_0': [inner, width],
            'mlp.c_fc_1': [inner, width],
            'mlp.c_proj': [width, inner],
          }),
        }),
        'transformer.h',
      ),
    },
    'bpe',
  ),
}
