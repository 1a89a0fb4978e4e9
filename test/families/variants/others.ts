// Encoders, and decoders with names and layers of their own.
import {
  bertLayers,
  each,
  inner,
  norms,
  output,
  type Variant,
  variant,
  vocabulary,
  weights,
  width,
  withBiases,
  withoutLlama,
  withoutSizes,
} from './shapes.js'

export const otherModels: Readonly<Record<string, Variant>> = {
  StarCoder: variant(
    'GPTBigCodeForCausalLM',
    'gpt_bigcode',
    { n_embd: width, n_head: 2, n_layer: 2, n_positions: 64, layer_norm_epsilon: 1e-5, n_inner: 32 },
    {
      ...weights('transformer', { wte: [vocabulary, width], wpe: [64, width] }),
      ...withBiases(weights('transformer', { ln_f: [width] })),
      ...output,
      ...each(
        (layer) =>
          withBiases(
            weights(layer, {
              ln_1: [width],
              ln_2: [width],
              'attn.c_attn': [16, width],
              'attn.c_proj': [width, width],
              'mlp.c_fc': [32, width],
              'mlp.c_proj': [width, 32],
            }),
          ),
        'transformer.h',
      ),
    },
    'bpe',
  ),
  'Nomic BERT': {
    config: {
      architectures: ['NomicBertModel'],
      model_type: 'nomic_bert',
      n_layer: 2,
      n_positions: 64,
      n_embd: width,
      n_inner: inner,
      n_head: 2,
      layer_norm_epsilon: 1e-12,
      rotary_emb_base: 1000,
      type_vocab_size: 2,
      vocab_size: 8,
    },
    shapes: {
      'embeddings.word_embeddings.weight': [8, width],
      'embeddings.token_type_embeddings.weight': [2, width],
      'emb_ln.weight': [width],
      'emb_ln.bias': [width],
      ...each(
        (layer) => ({
          ...weights(layer, {
            'attn.Wqkv': [24, width],
            'attn.out_proj': [width, width],
            'mlp.fc11': [inner, width],
            'mlp.fc12': [inner, width],
            'mlp.fc2': [width, inner],
          }),
          ...withBiases(norms(layer, 'norm1', 'norm2')),
        }),
        'encoder.layers',
      ),
    },
    tokenizer: 'wordpiece',
  },
  RoBERTa: variant(
    'RobertaModel',
    'roberta',
    {
      num_key_value_heads: undefined,
      rms_norm_eps: undefined,
      rope_theta: undefined,
      layer_norm_eps: 1e-5,
      pad_token_id: 1,
      max_position_embeddings: 66,
      type_vocab_size: 1,
    },
    {
      ...weights('embeddings', {
        word_embeddings: [vocabulary, width],
        position_embeddings: [66, width],
        token_type_embeddings: [1, width],
      }),
      ...withBiases(norms('embeddings', 'LayerNorm')),
      ...bertLayers(
        {
          'attention.self.query': [width, width],
          'attention.self.key': [width, width],
          'attention.self.value': [width, width],
          'attention.output.dense': [width, width],
          'attention.output.LayerNorm': [width],
          'intermediate.dense': [inner, width],
          'output.dense': [width, inner],
          'output.LayerNorm': [width],
        },
        'encoder.layer',
      ),
    },
    'bpe',
  ),
  Falcon: variant(
    'FalconForCausalLM',
    'falcon',
    { num_kv_heads: 1, layer_norm_epsilon: 1e-5, ...withoutLlama },
    {
      ...weights('transformer', { word_embeddings: [vocabulary, width] }),
      ...withBiases(norms('transformer', 'ln_f')),
      ...output,
      ...each(
        (layer) => ({
          ...withBiases(norms(layer, 'input_layernorm')),
          ...weights(layer, {
            'self_attention.query_key_value': [16, width],
            'self_attention.dense': [width, width],
            'mlp.dense_h_to_4h': [4 * width, width],
            'mlp.dense_4h_to_h': [width, 4 * width],
          }),
        }),
        'transformer.h',
      ),
    },
    'bpe',
  ),
  BLOOM: variant(
    'BloomForCausalLM',
    'bloom',
    { n_layer: 2, n_head: 2, layer_norm_epsilon: 1e-5, seq_length: 64, ...withoutLlama, ...withoutSizes },
    {
      ...weights('transformer', { word_embeddings: [vocabulary, width] }),
      ...withBiases(norms('transformer', 'word_embeddings_layernorm', 'ln_f')),
      ...each(
        (layer) =>
          withBiases({
            ...norms(layer, 'input_layernorm', 'post_attention_layernorm'),
            ...weights(layer, {
              'self_attention.query_key_value': [3 * width, width],
              'self_attention.dense': [width, width],
              'mlp.dense_h_to_4h': [4 * width, width],
              'mlp.dense_4h_to_h': [width, 4 * width],
            }),
          }),
        'transformer.h',
      ),
    },
    'bpe',
  ),
  CodeShell: variant(
    'CodeShellForCausalLM',
    'codeshell',
    {
      n_layer: 2,
      n_head: 2,
      n_embd: width,
      n_positions: 64,
      num_query_groups: 1,
      layer_norm_epsilon: 1e-5,
      hidden_size: undefined,
      ...withoutLlama,
      ...withoutSizes,
    },
    {
      ...weights('transformer', { wte: [vocabulary, width] }),
      ...withBiases(norms('transformer', 'ln_f')),
      ...output,
      ...each(
        (layer) =>
          withBiases({
            ...norms(layer, 'ln_1', 'ln_2'),
            ...weights(layer, {
              'attn.c_attn': [16, width],
              'attn.c_proj': [width, width],
              'mlp.c_fc': [4 * width, width],
              'mlp.c_proj': [width, 4 * width],
            }),
          }),
        'transformer.h',
      ),
    },
    'bpe',
  ),
}
