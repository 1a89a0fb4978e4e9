// Dream and LLaDA, which do not write a text from left to right, but fill in masked tokens: layers like Llama's that see all of a text.
import { headSize, numberIn } from '../facts.js'
import type { Family, KeyRule } from '../family.js'
import { maskToken, seesAll } from './moe/qwen-like.js'
import { commonKeys, decoderSettings, key } from './shared-keys.js'
import { attentionNames, expertNames, gatedMlpNames, headNormNames, outerNames, preNormNames } from './shared-names.js'

const settings = [...decoderSettings, 'num_experts', 'num_experts_per_tok']

export const dream: Family = {
  architecture: 'dream',
  classes: ['DreamModel'],
  configs: { Dream: {} },
  settings,
  keys: [...commonKeys, key.pooling, seesAll, maskToken],
  tensors: { ...outerNames, ...preNormNames, ...attentionNames, ...gatedMlpNames },
  tokenizer: 'plain-bpe',
}

/** A prediction stands where its token is, not before it. */
const staysInPlace: KeyRule = { key: 'diffusion.shift_logits', type: 'bool', value: () => false, back: () => ({}) }

const layer = 'model.transformer.blocks.{n}'

export const llada: Family = {
  architecture: 'llada',
  classes: ['LLaDAModelLM'],
  configs: { llada: {} },
  settings: ['n_layers', 'd_model', 'n_heads', 'n_kv_heads', 'mlp_hidden_size', 'max_sequence_length', 'rms_norm_eps'],
  keys: [
    ...commonKeys,
    key.pooling,
    key.vocabulary,
    {
      key: 'rope.dimension_count',
      type: 'u32',
      value: ({ config }) =>
        numberIn(config, 'head_dim') ??
        headSize({
          hidden_size: config.hidden_size ?? config.d_model,
          num_attention_heads: config.num_attention_heads ?? config.n_heads,
        }),
      back: () => ({}),
      required: true,
    },
    {
      key: 'context_length',
      type: 'u32',
      from: ['max_sequence_length'],
      value: ({ config }) => config.max_sequence_length ?? 4096,
    },
    { key: 'embedding_length', type: 'u32', from: ['d_model'], value: ({ config }) => config.d_model ?? 4096 },
    {
      key: 'feed_forward_length',
      type: 'u32',
      from: ['mlp_hidden_size'],
      value: ({ config }) => config.mlp_hidden_size ?? 12288,
    },
    seesAll,
    staysInPlace,
  ],
  tensors: {
    'model.transformer.wte': 'token_embd',
    'model.transformer.ff_out': 'output',
    'model.transformer.ln_f': 'output_norm',
    [`${layer}.attn_norm`]: 'blk.{n}.attn_norm',
    [`${layer}.q_proj`]: { to: 'blk.{n}.attn_q', by: 'permute-heads' },
    [`${layer}.k_proj`]: { to: 'blk.{n}.attn_k', by: 'permute-kv-heads' },
    [`${layer}.v_proj`]: 'blk.{n}.attn_v',
    [`${layer}.attn_out`]: 'blk.{n}.attn_output',
    [`${layer}.ff_norm`]: 'blk.{n}.ffn_norm',
    [`${layer}.up_proj`]: 'blk.{n}.ffn_up',
    [`${layer}.ff_proj`]: 'blk.{n}.ffn_gate',
    [`${layer}.ff_out`]: 'blk.{n}.ffn_down',
  },
  tokenizer: 'plain-bpe',
  tokenizerEntries: { after: { add_bos_token: true } },
}

export const lladaMoe: Family = {
  architecture: 'llada-moe',
  classes: ['LLaDAMoEModelLM', 'LLaDAMoEModel'],
  configs: { llada: {} },
  settings,
  keys: [
    ...commonKeys,
    { key: 'expert_feed_forward_length', type: 'u32', from: ['expert_intermediate_size'] },
    { key: 'tokenizer.ggml.mask_token_id', type: 'u32', value: () => 156895 },
    seesAll,
    staysInPlace,
  ],
  tensors: { ...outerNames, ...preNormNames, ...attentionNames, ...headNormNames, ...expertNames },
  tokenizer: 'bpe',
}
