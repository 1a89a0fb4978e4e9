// Falcon-H1: attention and Mamba 2 side by side in every layer. Checkpoints have factors for what goes in and out; llama.cpp expects weights that
// are multiplied by them.
import { num, numberIn } from '../../facts.js'
import type { Config, Family, NameTable, RowFactors, TensorRule } from '../../family.js'
import { key } from '../shared-keys.js'
import { outerNames } from '../shared-names.js'
import { mamba2Names } from './granite-hybrid.js'

const layer = 'model.layers.{n}'
const attention = `${layer}.self_attn`

const at = (list: unknown, i: number): number =>
  Array.isArray(list) && typeof list[i] === 'number' ? list[i] : Number.NaN

const times = (to: string, factors: (config: Config) => readonly number[]): TensorRule => ({ to, factors })

/** The rows of the gate, of what goes through, of both kinds of states, and of steps have a factor each. */
function inputFactors(config: Config, [rows = 0]: readonly number[]): readonly (number | RowFactors)[] {
  const inner = num(config, 'mamba_d_ssm')
  const states = num(config, 'mamba_n_groups') * num(config, 'mamba_d_state')
  const ends = [inner, 2 * inner, 2 * inner + states, 2 * inner + 2 * states, rows]
  const parts = ends.map((to, i) => ({ from: ends[i - 1] ?? 0, to, factor: at(config.ssm_multipliers, i) }))
  return [num(config, 'ssm_in_multiplier'), ...parts]
}

const names: NameTable = {
  'model.embed_tokens': times('token_embd', (config) => [num(config, 'embedding_multiplier')]),
  lm_head: times('output', (config) => [num(config, 'lm_head_multiplier')]),
  'model.final_layernorm': outerNames['model.norm']!,
  [`${layer}.input_layernorm`]: 'blk.{n}.attn_norm',
  // llama.cpp looks for this one without what other names end with.
  [`${layer}.pre_ff_layernorm.weight`]: 'blk.{n}.ffn_norm',
  [`${attention}.q_proj`]: times('blk.{n}.attn_q', (config) => [num(config, 'attention_in_multiplier')]),
  [`${attention}.k_proj`]: times('blk.{n}.attn_k', (config) => [
    num(config, 'key_multiplier'),
    num(config, 'attention_in_multiplier'),
  ]),
  [`${attention}.v_proj`]: times('blk.{n}.attn_v', (config) => [num(config, 'attention_in_multiplier')]),
  [`${attention}.o_proj`]: times('blk.{n}.attn_output', (config) => [num(config, 'attention_out_multiplier')]),
  ...mamba2Names,
  [`${layer}.mamba.in_proj`]: { to: 'blk.{n}.ssm_in', factors: inputFactors },
  [`${layer}.mamba.out_proj`]: times('blk.{n}.ssm_out', (config) => [num(config, 'ssm_out_multiplier')]),
  [`${layer}.feed_forward.gate_proj`]: times('blk.{n}.ffn_gate', ({ mlp_multipliers: list }) => [at(list, 0)]),
  [`${layer}.feed_forward.up_proj`]: 'blk.{n}.ffn_up',
  [`${layer}.feed_forward.down_proj`]: times('blk.{n}.ffn_down', ({ mlp_multipliers: list }) => [at(list, 1)]),
}

const ones: Config = {
  attention_in_multiplier: 1,
  attention_out_multiplier: 1,
  embedding_multiplier: 1,
  key_multiplier: 1,
  lm_head_multiplier: 1,
  mlp_multipliers: [1, 1],
  ssm_in_multiplier: 1,
  ssm_multipliers: [1, 1, 1, 1, 1],
  ssm_out_multiplier: 1,
}

export const falconH1: Family = {
  architecture: 'falcon-h1',
  classes: ['FalconH1ForCausalLM'],
  configs: { falcon_h1: {} },
  settings: [
    'num_hidden_layers',
    'max_position_embeddings',
    'hidden_size',
    'intermediate_size',
    'num_attention_heads',
    'num_key_value_heads',
    'head_dim',
    'rms_norm_eps',
    'rope_theta',
  ],
  // The names that transforms of Mamba look for.
  settle: (config) => ({ ...config, ...(config.mamba_n_groups != null && { n_groups: config.mamba_n_groups }) }),
  // Nothing in the file tells the factors; weights that come back have them in them.
  unsettle: (config) => ({ ...config, ...ones }),
  keys: [
    { ...key.context, value: ({ config }) => config.max_position_embeddings ?? 0 },
    key.embedding,
    key.feedForward,
    key.heads,
    key.blocks,
    {
      key: 'ssm.conv_kernel',
      type: 'u32',
      from: ['mamba_d_conv'],
      value: ({ config }) => numberIn(config, 'mamba_d_conv') || 4,
    },
    { key: 'ssm.inner_size', type: 'u32', from: ['mamba_d_ssm'], required: true },
    {
      key: 'ssm.state_size',
      type: 'u32',
      from: ['mamba_d_state'],
      value: ({ config }) => numberIn(config, 'mamba_d_state') || 128,
    },
    {
      key: 'ssm.time_step_rank',
      type: 'u32',
      from: ['mamba_n_heads'],
      value: ({ config }) =>
        Math.floor(
          num(config, 'mamba_d_ssm') / (numberIn(config, 'mamba_d_head') || numberIn(config, 'head_dim') || 64),
        ),
      back: (value, config) => ({ mamba_n_heads: value, mamba_d_head: num(config, 'mamba_d_ssm') / Number(value) }),
    },
    { key: 'ssm.group_count', type: 'u32', from: ['mamba_n_groups'], required: true },
    key.rmsEpsilon,
    key.fileType,
    key.vocabulary,
    key.kvHeads,
    { ...key.keyLength, required: true },
    { ...key.valueLength, required: true },
    { key: 'rope.freq_base', type: 'f32', from: ['rope_theta'], value: ({ rope }) => rope.rope_theta, required: true },
  ],
  tensors: names,
  tokenizer: 'bpe',
}
