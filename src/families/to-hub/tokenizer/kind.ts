import type { Config } from '../../family.js'

/** What one kind of tokenizer says in its own way. */
export interface PublishedKind {
  /** Whether tokenizer.json lists a token beside the vocabulary. */
  isListed(id: number): boolean
  /** tokenizer_config.json, with the special tokens among the rest. */
  config(specials: Config): Config
  /** Files that only this kind has. */
  readonly files?: ReadonlyMap<string, Config | Uint8Array> | undefined
}
