// Relatives of the architectures in the golden cases, each with what sets it apart.
import {
  attention,
  dense,
  each,
  expertMlps,
  experts,
  inner,
  mlp,
  norms,
  outer,
  output,
  preNorms,
  type Shapes,
  type Variant,
  variant,
  vocabulary,
  weights,
  width,
  withBiases,
} from './shapes.js'

const without = (shapes: Shapes, pattern: RegExp): Shapes =>
  Object.fromEntries(Object.entries(shapes).filter(([name]) => !pattern.test(name)))
const untied: Shapes = { ...dense, ...output }
const ungated = without(untied, /gate_proj/)
/** Layer 0 is dense, layer 1 has experts. */
const firstDense = (experts: Shapes): Shapes => ({ ...without(untied, /layers\.1\.mlp\./), ...experts })
const heads = (prefix: string, q: string, k: string): Shapes => weights(`${prefix}.self_attn`, { [q]: [4], [k]: [4] })

export const relatives: Readonly<Record<string, Variant>> = {
  Arcee: variant('ArceeForCausalLM', 'arcee', {}, ungated, 'sentencepiece'),
  Nemotron: variant(
    'NemotronForCausalLM',
    'nemotron',
    { partial_rotary_factor: 0.5, norm_eps: 1e-5, rms_norm_eps: undefined },
    { ...ungated, ...withBiases({ 'model.norm.weight': [width], ...each(preNorms) }) },
    'sentencepiece',
  ),
  'EXAONE 4': variant(
    'Exaone4ForCausalLM',
    'exaone4',
    { sliding_window: 16, sliding_window_pattern: 2 },
    {
      ...outer,
      ...output,
      ...each((layer) => ({
        ...norms(layer, 'post_attention_layernorm', 'post_feedforward_layernorm'),
        ...attention(layer),
        ...heads(layer, 'q_norm', 'k_norm'),
        ...mlp(`${layer}.mlp`),
      })),
    },
    'bpe',
  ),
  'ERNIE 4.5': variant('Ernie4_5ForCausalLM', 'ernie4_5', { head_dim: 4 }, dense, 'sentencepiece'),
  'ERNIE 4.5 with experts': variant(
    'Ernie4_5_MoeForCausalLM',
    'ernie4_5_moe',
    {
      moe_num_experts: experts,
      moe_k: 2,
      moe_intermediate_size: 6,
      moe_layer_start_index: 1,
      moe_num_shared_experts: 1,
    },
    firstDense({
      ...expertMlps('model.layers.1.mlp.experts', 6),
      'model.layers.1.mlp.gate.weight': [experts, width],
      'model.layers.1.mlp.moe_statics.e_score_correction_bias': [1, experts],
      ...mlp('model.layers.1.mlp.shared_experts', inner),
    }),
    'sentencepiece',
  ),
  HunYuan: variant(
    'HunYuanDenseV1ForCausalLM',
    'hunyuan_v1_dense',
    { head_dim: 4 },
    { ...untied, ...each((layer) => heads(layer, 'query_layernorm', 'key_layernorm')) },
    'bpe',
  ),
  'GLM-4': variant(
    'Glm4ForCausalLM',
    'glm4',
    { head_dim: 4, partial_rotary_factor: 0.5, bos_token_id: undefined, eos_token_id: undefined },
    {
      ...outer,
      ...output,
      ...each((layer) => ({
        ...preNorms(layer),
        ...norms(layer, 'post_self_attn_layernorm', 'post_mlp_layernorm'),
        ...attention(layer),
        ...weights(`${layer}.mlp`, { gate_up_proj: [2 * inner, width], down_proj: [width, inner] }),
      })),
    },
    'bpe',
  ),
  'InternLM 2': variant(
    'InternLM2ForCausalLM',
    'internlm2',
    { vocab_size: 6 },
    {
      'model.tok_embeddings.weight': [6, width],
      'model.norm.weight': [width],
      'output.weight': [6, width],
      ...each((layer) => ({
        ...norms(layer, 'attention_norm', 'ffn_norm'),
        ...weights(layer, {
          'attention.wqkv': [16, width],
          'attention.wo': [width, width],
          'feed_forward.w1': [inner, width],
          'feed_forward.w2': [width, inner],
          'feed_forward.w3': [inner, width],
        }),
      })),
    },
    'sentencepiece',
  ),
  MiniCPM: variant(
    'MiniCPMForCausalLM',
    'minicpm',
    { scale_emb: 12, scale_depth: 1.4, dim_model_base: 4 },
    dense,
    'sentencepiece',
  ),
  Baichuan: variant(
    'BaichuanForCausalLM',
    'baichuan',
    { num_key_value_heads: undefined, rope_theta: undefined },
    {
      ...without(untied, /\.[qkv]_proj/),
      ...each((layer) => weights(`${layer}.self_attn`, { W_pack: [3 * width, width] })),
    },
    'sentencepiece',
  ),
  Orion: variant(
    'OrionForCausalLM',
    'orion',
    { rope_theta: undefined },
    { ...untied, ...withBiases({ 'model.norm.weight': [width], ...each(preNorms) }) },
    'sentencepiece',
  ),
  'DeepSeek with experts': variant(
    'DeepseekForCausalLM',
    'deepseek',
    {
      first_k_dense_replace: 1,
      moe_intermediate_size: 6,
      n_routed_experts: experts,
      n_shared_experts: 2,
      num_experts_per_tok: 2,
    },
    firstDense({
      ...expertMlps('model.layers.1.mlp.experts', 6),
      'model.layers.1.mlp.gate.weight': [experts, width],
      ...mlp('model.layers.1.mlp.shared_experts', inner),
    }),
    'sentencepiece',
  ),
  'dots.llm1': variant(
    'Dots1ForCausalLM',
    'dots1',
    {
      first_k_dense_replace: 1,
      moe_intermediate_size: 6,
      n_routed_experts: experts,
      n_shared_experts: 1,
      num_experts_per_tok: 2,
    },
    {
      ...firstDense({
        ...expertMlps('model.layers.1.mlp.experts', 6),
        'model.layers.1.mlp.gate.weight': [experts, width],
        'model.layers.1.mlp.gate.e_score_correction_bias': [experts],
        ...mlp('model.layers.1.mlp.shared_experts', 6),
      }),
      ...each((layer) => heads(layer, 'q_norm', 'k_norm')),
    },
    'bpe',
  ),
  MPT: variant(
    'MPTForCausalLM',
    'mpt',
    {
      ...Object.fromEntries(['hidden_size', 'intermediate_size', 'num_attention_heads'].map((key) => [key, undefined])),
      num_hidden_layers: undefined,
      d_model: width,
      n_heads: 2,
      n_layers: 2,
      max_seq_len: 64,
      attn_config: { alibi: true, alibi_bias_max: 8, clip_qkv: 6 },
    },
    {
      ...weights('transformer', { wte: [vocabulary, width], norm_f: [width] }),
      ...each(
        (layer) => ({
          ...norms(layer, 'norm_1', 'norm_2'),
          ...weights(layer, {
            'attn.Wqkv': [3 * width, width],
            'attn.out_proj': [width, width],
            'ffn.up_proj': [4 * width, width],
            'ffn.down_proj': [width, 4 * width],
          }),
        }),
        'transformer.blocks',
      ),
    },
    'bpe',
  ),
  ModernBERT: variant(
    'ModernBertModel',
    'modernbert',
    { norm_eps: 1e-5, rms_norm_eps: undefined, local_attention: 16, num_key_value_heads: undefined },
    without(
      {
        ...weights('embeddings', { tok_embeddings: [vocabulary, width], norm: [width] }),
        'final_norm.weight': [width],
        ...each(
          (layer) => ({
            ...norms(layer, 'attn_norm', 'mlp_norm'),
            ...weights(layer, {
              'attn.Wqkv': [3 * width, width],
              'attn.Wo': [width, width],
              'mlp.Wi': [2 * inner, width],
              'mlp.Wo': [width, inner],
            }),
          }),
          'layers',
        ),
      },
      /^layers\.0\.attn_norm/,
    ),
    'bpe',
  ),
  'XLM-RoBERTa': variant(
    'XLMRobertaModel',
    'xlm-roberta',
    {
      type_vocab_size: 1,
      num_key_value_heads: undefined,
      rope_theta: undefined,
      rms_norm_eps: undefined,
      pad_token_id: 1,
    },
    {
      ...weights('embeddings', { word_embeddings: [vocabulary, width], position_embeddings: [64, width] }),
      'embeddings.token_type_embeddings.weight': [1, width],
      ...withBiases({ 'embeddings.LayerNorm.weight': [width] }),
      ...each(
        (layer) =>
          withBiases(
            weights(layer, {
              'attention.self.query': [width, width],
              'attention.self.key': [width, width],
              'attention.self.value': [width, width],
              'attention.output.dense': [width, width],
              'attention.output.LayerNorm': [width],
              'intermediate.dense': [inner, width],
              'output.dense': [width, inner],
              'output.LayerNorm': [width],
            }),
          ),
        'encoder.layer',
      ),
    },
    'unigram',
  ),
}
