// Small models of architectures and settings that the golden cases do not have: a configuration, and the shapes of all tensors.
import type { TinyOptions } from './tiny-model.js'

type Shapes = Readonly<Record<string, readonly number[]>>
type Settings = Readonly<Record<string, unknown>>

export interface Variant {
  readonly config: Settings
  readonly shapes: Shapes
  readonly tokenizer: 'sentencepiece' | 'bpe' | 'wordpiece'
}

const [width, inner, vocabulary, experts] = [8, 12, 128, 3]
const base: Settings = {
  hidden_size: width,
  intermediate_size: inner,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  num_hidden_layers: 2,
  max_position_embeddings: 64,
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  vocab_size: vocabulary,
  bos_token_id: 1,
  eos_token_id: 2,
}

const each = (of: (layer: string) => Shapes, layers = 'model.layers'): Shapes => ({
  ...of(`${layers}.0`),
  ...of(`${layers}.1`),
})
const weights = (prefix: string, shapes: Readonly<Record<string, readonly number[]>>): Shapes =>
  Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [`${prefix}.${name}.weight`, shape]))
const withBiases = (shapes: Shapes): Shapes => ({
  ...shapes,
  ...Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [name.replace(/weight$/, 'bias'), shape.slice(0, 1)]),
  ),
})

const embedding: Shapes = { 'model.embed_tokens.weight': [vocabulary, width] }
const outer: Shapes = { ...embedding, 'model.norm.weight': [width] }
const output: Shapes = { 'lm_head.weight': [vocabulary, width] }
const attention = (layer: string, keys = 4): Shapes =>
  weights(`${layer}.self_attn`, {
    q_proj: [2 * keys, width],
    k_proj: [keys, width],
    v_proj: [keys, width],
    o_proj: [width, 2 * keys],
  })
const mlp = (prefix: string, size = inner): Shapes =>
  weights(prefix, { gate_proj: [size, width], up_proj: [size, width], down_proj: [width, size] })
const norms = (layer: string, ...names: readonly string[]): Shapes =>
  weights(layer, Object.fromEntries(names.map((name) => [name, [width]])))
const preNorms = (layer: string): Shapes => norms(layer, 'input_layernorm', 'post_attention_layernorm')
const expertMlps = (prefix: string, size: number): Shapes =>
  Object.assign({}, ...Array.from({ length: experts }, (_, e) => mlp(`${prefix}.${e}`, size)))
const dense: Shapes = {
  ...outer,
  ...each((layer) => ({ ...preNorms(layer), ...attention(layer), ...mlp(`${layer}.mlp`) })),
}

const variant = (
  className: string,
  modelType: string,
  settings: Settings,
  shapes: Shapes,
  tokenizer: Variant['tokenizer'],
): Variant => ({
  config: { ...base, architectures: [className], model_type: modelType, ...settings },
  shapes,
  tokenizer,
})

const bertLayers = (names: Readonly<Record<string, readonly number[]>>, layers: string): Shapes =>
  each((layer) => withBiases(weights(layer, names)), layers)

/** What models that are not built like Llama do not have. */
const withoutLlama: Settings = {
  intermediate_size: undefined,
  num_key_value_heads: undefined,
  max_position_embeddings: undefined,
  rms_norm_eps: undefined,
  rope_theta: undefined,
}
const withoutSizes: Settings = { num_hidden_layers: undefined, num_attention_heads: undefined }

export const variants: Readonly<Record<string, Variant>> = {
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
  'Phi 3.5 with experts': variant(
    'PhiMoEForCausalLM',
    'phimoe',
    {
      original_max_position_embeddings: 64,
      sliding_window: null,
      num_local_experts: experts,
      num_experts_per_tok: 2,
    },
    {
      ...outer,
      ...output,
      ...each((layer) => ({
        ...withBiases(preNorms(layer)),
        ...withBiases(attention(layer)),
        ...weights(`${layer}.block_sparse_moe`, { gate: [experts, width] }),
        ...Object.assign(
          {},
          ...Array.from({ length: experts }, (_, e) =>
            weights(`${layer}.block_sparse_moe.experts.${e}`, {
              w1: [inner, width],
              w2: [width, inner],
              w3: [inner, width],
            }),
          ),
        ),
      })),
    },
    'bpe',
  ),
  'Gemma 1': variant('GemmaForCausalLM', 'gemma', { head_dim: 4 }, dense, 'sentencepiece'),
  'Granite with experts': variant(
    'GraniteMoeForCausalLM',
    'granitemoe',
    { num_local_experts: experts, num_experts_per_tok: 2, embedding_multiplier: 12, logits_scaling: 6 },
    {
      ...outer,
      ...each((layer) => ({
        ...preNorms(layer),
        ...attention(layer),
        ...weights(`${layer}.block_sparse_moe`, {
          'router.layer': [experts, width],
          input_linear: [experts, 2 * inner, width],
          output_linear: [experts, width, inner],
        }),
      })),
    },
    'bpe',
  ),
  'Qwen 2 with experts': variant(
    'Qwen2MoeForCausalLM',
    'qwen2_moe',
    { num_experts: experts, num_experts_per_tok: 2, moe_intermediate_size: 6, shared_expert_intermediate_size: inner },
    {
      ...outer,
      ...output,
      ...each((layer) => ({
        ...preNorms(layer),
        ...attention(layer),
        ...expertMlps(`${layer}.mlp.experts`, 6),
        ...mlp(`${layer}.mlp.shared_expert`),
        ...weights(`${layer}.mlp`, { gate: [experts, width], shared_expert_gate: [1, width] }),
      })),
    },
    'bpe',
  ),
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
  'DeepSeek V3': variant(
    'DeepseekV3ForCausalLM',
    'deepseek_v3',
    {
      num_key_value_heads: 2,
      q_lora_rank: 5,
      kv_lora_rank: 6,
      qk_nope_head_dim: 4,
      qk_rope_head_dim: 2,
      v_head_dim: 3,
      first_k_dense_replace: 1,
      n_routed_experts: experts,
      n_shared_experts: 1,
      n_group: 1,
      topk_group: 1,
      moe_intermediate_size: 6,
      num_experts_per_tok: 2,
      scoring_func: 'sigmoid',
      norm_topk_prob: true,
      routed_scaling_factor: 2.5,
    },
    {
      ...outer,
      ...output,
      ...each((layer) => ({
        ...preNorms(layer),
        ...weights(`${layer}.self_attn`, {
          q_a_proj: [5, width],
          q_a_layernorm: [5],
          q_b_proj: [12, 5],
          kv_a_proj_with_mqa: [8, width],
          kv_a_layernorm: [6],
          kv_b_proj: [14, 6],
          o_proj: [width, 6],
        }),
      })),
      ...mlp('model.layers.0.mlp'),
      ...expertMlps('model.layers.1.mlp.experts', 6),
      ...mlp('model.layers.1.mlp.shared_experts', 6),
      'model.layers.1.mlp.gate.weight': [experts, width],
      'model.layers.1.mlp.gate.e_score_correction_bias': [experts],
    },
    'bpe',
  ),
  'gpt-oss without MXFP4': variant(
    'GptOssForCausalLM',
    'gpt_oss',
    { head_dim: 4, num_local_experts: experts, num_experts_per_tok: 2, sliding_window: 16, rope_scaling: null },
    {
      ...outer,
      ...output,
      ...each((layer) => ({
        ...preNorms(layer),
        ...withBiases(attention(layer)),
        [`${layer}.self_attn.sinks`]: [2],
        ...withBiases(weights(`${layer}.mlp`, { router: [experts, width] })),
        [`${layer}.mlp.experts.gate_up_proj`]: [experts, width, 2 * inner],
        [`${layer}.mlp.experts.gate_up_proj_bias`]: [experts, 2 * inner],
        [`${layer}.mlp.experts.down_proj`]: [experts, inner, width],
        [`${layer}.mlp.experts.down_proj_bias`]: [experts, width],
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
  'Llama 4': variant(
    'Llama4ForCausalLM',
    'llama4_text',
    {
      head_dim: 4,
      intermediate_size: 6,
      intermediate_size_mlp: inner,
      num_local_experts: experts,
      num_experts_per_tok: 1,
      interleave_moe_layer_step: 2,
    },
    {
      ...outer,
      ...output,
      ...each((layer) => ({ ...preNorms(layer), ...attention(layer) })),
      ...mlp('model.layers.0.feed_forward'),
      ...mlp('model.layers.1.feed_forward.shared_expert', 6),
      'model.layers.1.feed_forward.router.weight': [experts, width],
      'model.layers.1.feed_forward.experts.gate_up_proj': [experts, width, 12],
      'model.layers.1.feed_forward.experts.down_proj': [experts, 6, width],
    },
    'bpe',
  ),
}

const added = (id: number, content: string) => ({ id, content, special: true, normalized: false })
const letters = ['a', 'b', 'c', 'd', 'ab', 'cd']
const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true }

/** A tokenizer of a few tokens, which llama.cpp has no name for, and which is therefore given one. */
export const tokenizerFiles: Readonly<Record<Variant['tokenizer'], TinyOptions['files']>> = {
  sentencepiece: {},
  bpe: {
    'tokenizer.model': null,
    'gguf.json': JSON.stringify({ set: { 'tokenizer.ggml.pre': ['str', 'gpt-2'] } }),
    'tokenizer_config.json': JSON.stringify({ bos_token: '<s>', eos_token: '</s>', tokenizer_class: 'GPT2Tokenizer' }),
    'tokenizer.json': JSON.stringify({
      added_tokens: [added(1, '<s>'), added(2, '</s>')],
      pre_tokenizer: byteLevel,
      decoder: byteLevel,
      model: {
        type: 'BPE',
        vocab: Object.fromEntries(['!', '', '', ...letters].map((token, id) => [token, id]).filter(([token]) => token)),
        merges: ['a b', 'c d'],
      },
    }),
  },
  wordpiece: {
    'tokenizer.model': null,
    'gguf.json': JSON.stringify({ set: { 'tokenizer.ggml.pre': ['str', 'jina-v2-en'] } }),
    'tokenizer_config.json': JSON.stringify({ do_lower_case: true, tokenizer_class: 'BertTokenizer' }),
    'vocab.txt': ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'a', '##b', 'c'].join('\n'),
  },
}
