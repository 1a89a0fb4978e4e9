// Tensor names of BERT encoders. A model inside another one has a prefix such as `bert.`; early files call the two vectors of a layer norm
// gamma and beta.

export const wordTable = 'embeddings.word_embeddings.weight'

/** The prefix of the encoder's tensors; empty if there is no encoder. */
export function encoderPrefix(names: Iterable<string>): string {
  for (const name of names) if (name.endsWith(wordTable)) return name.slice(0, -wordTable.length)
  return ''
}

/** The name of a tensor in early files. */
export const oldName = (name: string): string =>
  name.replace(/LayerNorm\.weight$/, 'LayerNorm.gamma').replace(/LayerNorm\.bias$/, 'LayerNorm.beta')
