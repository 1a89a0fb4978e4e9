// What the settings of config.json are called. Each architecture has its own words for the same few numbers; of several the first counts, as
// in llama.cpp's converter.

export const configWords = {
  layers: ['n_layers', 'num_hidden_layers', 'n_layer', 'num_layers'],
  context: ['max_position_embeddings', 'n_ctx', 'n_positions'],
  hidden: ['hidden_size', 'n_embd', 'dim'],
  feedForward: [
    'prefix_dense_intermediate_size',
    'dense_intermediate_size',
    'intermediate_size',
    'n_inner',
    'hidden_dim',
  ],
  heads: ['num_attention_heads', 'n_head', 'n_heads'],
  kvHeads: ['num_key_value_heads', 'n_kv_heads'],
  headDim: ['head_dim'],
  vocabulary: ['vocab_size'],
  experts: ['num_local_experts', 'num_experts', 'n_routed_experts'],
  usedExperts: ['num_experts_per_tok', 'num_experts_per_token', 'top_k_experts'],
  ropeTheta: ['global_rope_theta', 'rope_global_theta', 'rope_theta_global', 'rope_theta', 'rotary_emb_base'],
} as const satisfies Record<string, readonly string[]>
