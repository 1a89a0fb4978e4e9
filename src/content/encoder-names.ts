// Names of the tensors of BERT encoders in the field. A model inside another one has a prefix, such as `bert.`, before all of them; files of
// the early days call the two vectors of a layer norm gamma and beta.

export const wordTable = 'embeddings.word_embeddings.weight'

/** What stands before the names of an encoder's tensors; empty where there is no encoder. */
export function encoderPrefix(names: Iterable<string>): string {
  for (const name of names) if (name.endsWith(wordTable)) return name.slice(0, -wordTable.length)
  return ''
}

/** What old files call a tensor. */
export const oldName = (name: string): string =>
  name.replace(/LayerNorm\.weight$/, 'LayerNorm.gamma').replace(/LayerNorm\.bias$/, 'LayerNorm.beta')
