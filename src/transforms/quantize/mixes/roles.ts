// What a weight does in a model, as far as its name in llama.cpp tells; and which weights are never quantized.

export type Role =
  | 'output'
  | 'embedding'
  | 'attentionV'
  | 'attentionK'
  | 'attentionQ'
  | 'attentionOutput'
  | 'ffnUp'
  | 'ffnGate'
  | 'ffnDown'
  | 'other'

const exactNames: Readonly<Record<string, Role>> = {
  'output.weight': 'output',
  'token_embd.weight': 'embedding',
  'per_layer_token_embd.weight': 'embedding',
}

/** Parts of names. The first that a name contains counts. */
const partsOfNames: readonly (readonly [part: string, role: Role])[] = [
  // Both hold V together with something else, and V is what is sensitive in them.
  ['attn_qkv.weight', 'attentionV'],
  ['attn_kv_b.weight', 'attentionV'],
  ['attn_v.weight', 'attentionV'],
  ['attn_k.weight', 'attentionK'],
  ['attn_q.weight', 'attentionQ'],
  ['attn_output.weight', 'attentionOutput'],
  ['ffn_up', 'ffnUp'],
  ['ffn_gate', 'ffnGate'],
  ['ffn_down', 'ffnDown'],
]

export const roleOf = (name: string): Role =>
  exactNames[name] ?? partsOfNames.find(([part]) => name.includes(part))?.[1] ?? 'other'

/** Parts of names of weights that stay as they are, with what they are. */
const keptParts: readonly (readonly [part: string, reason: string])[] = [
  ['_norm.weight', 'a normalization'],
  ['ffn_gate_inp.weight', 'it routes to experts'],
  ['ffn_gate_tid2eid.weight', 'it routes to experts'],
  ...['altup', 'laurel', 'per_layer_model_proj'].map((part) => [part, 'a small projection'] as const),
  ...['ssm_conv1d', 'shortconv.conv.weight'].map((part) => [part, 'a small convolution'] as const),
  ...['indexer.k_proj.weight', 'indexer.q_proj.weight'].map((part) => [part, 'a small projection'] as const),
  ...[
    'first',
    'w0',
    'w1',
    'w2',
    'v0',
    'v1',
    'v2',
    'a0',
    'a1',
    'a2',
    'g1',
    'g2',
    'decay_w1',
    'decay_w2',
    'lerp_fused',
  ].map((part) => [`time_mix_${part}.weight`, 'a small part of a time mix'] as const),
  ...['attn_rel_b.weight', '.position_embd', 'sam.pos_embd', '.rel_pos'].map(
    (part) => [part, 'it holds positions'] as const,
  ),
  ...['sam.neck.', 'sam.net_', '.patch_embd', '.patch_merger'].map(
    (part) => [part, 'a part of an image encoder'] as const,
  ),
  ...['a.rvq.codebook', 'mm.a.code_embd'].map((part) => [part, 'a codebook'] as const),
]

const keptNames: Readonly<Record<string, string>> = {
  'position_embd.weight': 'it holds positions',
  'token_types.weight': 'it holds token types',
}

/** Why llama-quantize leaves a tensor as it is; undefined if it does not. */
export function whyKeptByName(name: string, shape: readonly number[]): string | undefined {
  // ggml counts dimensions from the first that is not 1.
  const dims = shape.slice(shape.findIndex((dim) => dim !== 1)).length
  if (shape.every((dim) => dim === 1) || dims < 2) return `${shape.length}-D, not a matrix`
  if (!name.endsWith('weight')) return 'its name does not end in "weight"'
  return keptNames[name] ?? keptParts.find(([part]) => name.includes(part))?.[1]
}
