// The tokenizer of a GGUF file: what its metadata says.
import { failWith } from '../../../errors/index.js'
import type { Metadata } from '../../../model/index.js'
import { familyCodes } from '../../codes.js'
import type { Config, TokenizerChoice } from '../../family.js'
import { tokenType } from '../../tokenizers/token-types.js'
import { maxTokens, placeholder } from '../../tokenizers/vocabulary.js'
import { listAt, textAt } from '../entries.js'

export interface TokenizerSource {
  readonly metadata: Metadata
  /** Which tokenizers the family reads. */
  readonly choice: TokenizerChoice
  readonly file: string
  /** `gpt2`, `llama` or `bert`. */
  readonly model: string
  readonly tokens: readonly string[]
  readonly types: readonly number[]
  readonly scores: readonly number[]
}

/** The files of a tokenizer, and what config.json says about it. */
export interface PublishedTokenizer {
  readonly files: ReadonlyMap<string, Config | Uint8Array>
  readonly settings: Config
}

const prefix = 'tokenizer.ggml.'

/** Undefined where the file has no tokenizer. */
export function readTokenizer(metadata: Metadata, choice: TokenizerChoice, file: string): TokenizerSource | undefined {
  const model = textAt(metadata, `${prefix}model`)
  const tokens = listAt(metadata, `${prefix}tokens`, 'string', file)
  if (model === undefined && !tokens) return undefined
  if (model === undefined || !tokens || tokens.length > maxTokens)
    return refuseKey(file, `${prefix}${tokens ? 'model' : 'tokens'}`, 'a tokenizer needs a model and a list of tokens')
  const types = listAt(metadata, `${prefix}token_type`, 'number', file) ?? tokens.map(() => tokenType.normal)
  const scores = listAt(metadata, `${prefix}scores`, 'number', file) ?? tokens.map(() => 0)
  for (const [key, list] of [['token_type', types] as const, ['scores', scores] as const])
    if (list.length !== tokens.length)
      refuseKey(file, `${prefix}${key}`, `${list.length} items for ${tokens.length} tokens`)
  return { metadata, choice, file, model, tokens, types, scores }
}

export function refuseKey(file: string, path: string, message: string): never {
  return failWith(familyCodes.tokenizer, { file, path, message })
}

/** Ids that stand for no token. */
export const isPlaceholder = ({ tokens, types }: TokenizerSource, id: number): boolean =>
  types[id] === tokenType.unused && tokens[id]!.replace(/^\u2581/, '') === placeholder(id)

/** Tokens that are looked for in a text before anything else is done to it. */
export const isAdded = ({ types }: TokenizerSource, id: number): boolean =>
  types[id] === tokenType.control || types[id] === tokenType.userDefined

export const addedToken = (id: number, content: string, special: boolean): Config => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special,
})

/** Tokens by their text. Two of one text cannot be told apart in a directory. */
export function vocabularyOf(
  ids: readonly number[],
  textOf: (id: number) => string,
  file: string,
): Readonly<Record<string, number>> {
  const vocabulary = new Map<string, number>()
  for (const id of ids) {
    const token = textOf(id)
    const other = vocabulary.get(token)
    if (other !== undefined)
      refuseKey(file, `${prefix}tokens[${id}]`, `it is ${JSON.stringify(token)}, and so is token ${other}`)
    vocabulary.set(token, id)
  }
  return Object.fromEntries(vocabulary)
}
