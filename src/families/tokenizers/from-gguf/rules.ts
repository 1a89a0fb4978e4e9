// What each kind of tokenizer says in tokenizer.json about how text becomes tokens.
import type { Config } from '../../family.js'
import type { DefaultEnds } from './template.js'

export interface Rules {
  readonly normalizer: Config | null
  readonly preTokenizer: Config | null
  /** What is done to tokens beside putting others around them. */
  readonly postProcessor?: Config
  readonly decoder: Config
  readonly model: Config
  readonly ends: DefaultEnds
}
