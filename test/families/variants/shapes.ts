// What the small models of the tests are made of: settings, and the shapes of tensors.
export type Shapes = Readonly<Record<string, readonly number[]>>
export type Settings = Readonly<Record<string, unknown>>

export interface Variant {
  readonly config: Settings
  readonly shapes: Shapes
  /** The class and the type that it has after the way back, where the text of a model that sees or hears is one of another class. */
  readonly back?: readonly [className: string, modelType: string]
  /** Its tokens are too few for the way back. */
  readonly isOneWay?: true
  readonly tokenizer: 'sentencepiece' | 'bpe' | 'glm' | 'solar' | 'gemma-4' | 'wordpiece' | 'unigram'
}

export const [width, inner, vocabulary, experts] = [8, 12, 128, 3]
export const base: Settings = {
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

export const each = (of: (layer: string) => Shapes, layers = 'model.layers'): Shapes => ({
  ...of(`${layers}.0`),
  ...of(`${layers}.1`),
})
export const weights = (prefix: string, shapes: Readonly<Record<string, readonly number[]>>): Shapes =>
  Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [`${prefix}.${name}.weight`, shape]))
export const withBiases = (shapes: Shapes): Shapes => ({
  ...shapes,
  ...Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [name.replace(/weight$/, 'bias'), shape.slice(0, 1)]),
  ),
})

export const embedding: Shapes = { 'model.embed_tokens.weight': [vocabulary, width] }
export const outer: Shapes = { ...embedding, 'model.norm.weight': [width] }
export const output: Shapes = { 'lm_head.weight': [vocabulary, width] }
export const attention = (layer: string, keys = 4): Shapes =>
  weights(`${layer}.self_attn`, {
    q_proj: [2 * keys, width],
    k_proj: [keys, width],
    v_proj: [keys, width],
    o_proj: [width, 2 * keys],
  })
export const mlp = (prefix: string, size = inner): Shapes =>
  weights(prefix, { gate_proj: [size, width], up_proj: [size, width], down_proj: [width, size] })
export const norms = (layer: string, ...names: readonly string[]): Shapes =>
  weights(layer, Object.fromEntries(names.map((name) => [name, [width]])))
export const preNorms = (layer: string): Shapes => norms(layer, 'input_layernorm', 'post_attention_layernorm')
export const expertMlps = (prefix: string, size: number): Shapes =>
  Object.assign({}, ...Array.from({ length: experts }, (_, e) => mlp(`${prefix}.${e}`, size)))
export const headNorms = (layer: string, size = 4): Shapes =>
  weights(`${layer}.self_attn`, { q_norm: [size], k_norm: [size] })
export const dense: Shapes = {
  ...outer,
  ...each((layer) => ({ ...preNorms(layer), ...attention(layer), ...mlp(`${layer}.mlp`) })),
}

/** The sizes of the parts of a layer that carry a state. */
export const [state, doubled] = [4, 2 * width]
/** Mamba 2 with four heads. */
export const mamba2 = (prefix: string, groups = 1): Shapes => {
  const channels = doubled + 2 * groups * state
  return {
    ...weights(prefix, {
      in_proj: [doubled + channels + 4, width],
      conv1d: [channels, 1, 4],
      norm: [doubled],
      out_proj: [width, doubled],
    }),
    [`${prefix}.conv1d.bias`]: [channels],
    [`${prefix}.A_log`]: [4],
    [`${prefix}.D`]: [4],
    [`${prefix}.dt_bias`]: [4],
  }
}

export const variant = (
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

export const bertLayers = (names: Readonly<Record<string, readonly number[]>>, layers: string): Shapes =>
  each((layer) => withBiases(weights(layer, names)), layers)

/** What models that are not built like Llama do not have. */
export const withoutLlama: Settings = {
  intermediate_size: undefined,
  num_key_value_heads: undefined,
  max_position_embeddings: undefined,
  rms_norm_eps: undefined,
  rope_theta: undefined,
}
export const withoutSizes: Settings = { num_hidden_layers: undefined, num_attention_heads: undefined }
