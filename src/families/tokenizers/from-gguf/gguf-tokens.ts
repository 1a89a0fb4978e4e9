// What a GGUF file says about its tokenizer: texts by id, the kind of each, scores or merges, the ids of special tokens, and a few switches.
import { type Code, failWith } from '../../../errors/index.js'
import type { Metadata, MetaValue } from '../../../model/index.js'
import { familyCodes } from '../../codes.js'
import type { Config } from '../../family.js'
import { tokenType } from '../token-types.js'
import { maxTokens, placeholder } from '../vocabulary.js'

export interface GgufTokens {
  /** The file, for messages. */
  readonly file: string
  /** What can be done about a tokenizer that only llama.cpp has code for. */
  readonly advice: string
  /** The kind of tokenizer: gpt2, llama, bert, t5. */
  readonly model: string
  /** The name of the rules by which text is split into words. */
  readonly pre: string
  readonly tokens: readonly string[]
  /** One for each token. */
  readonly types: readonly number[]
  /** One for each token, or none. */
  readonly scores: readonly number[]
  readonly merges: readonly string[]
  /** The first token that is not UTF-8. Its text has replacement characters. */
  readonly broken: number | undefined
  /** The id of a special token, if the file names it and there is such a token. */
  specialId(kind: SpecialKind): number | undefined
  /** The text of that token. */
  special(kind: SpecialKind): string | undefined
  /** A switch, if the file has it. */
  flag(name: string): boolean | undefined
  readonly metadata: Metadata
}

/** As GGUF spells them. */
export type SpecialKind = 'bos' | 'eos' | 'unknown' | 'seperator' | 'padding' | 'mask'

export const prefix = 'tokenizer.ggml.'

/** Undefined where the file has no tokens. */
export function readGgufTokens(metadata: Metadata, file: string, advice: string): GgufTokens | undefined {
  const model = textIn(metadata.get(`${prefix}model`))
  if (!metadata.has(`${prefix}tokens`)) {
    if (model === undefined || ['none', 'no_vocab'].includes(model)) return undefined
    return refuseGguf(file, `${prefix}tokens`, 'a tokenizer needs a list of tokens')
  }
  if (model === undefined) return refuseGguf(file, `${prefix}model`, 'a tokenizer needs a kind')
  let broken: number | undefined
  const list = <T>(key: string, item: (value: MetaValue, i: number) => T | undefined, wanted: string): readonly T[] => {
    const value = metadata.get(prefix + key)
    if (value === undefined) return []
    if (value.type !== 'array') return refuseGguf(file, prefix + key, `a list of ${wanted} was expected`)
    return value
      .values()
      .map((each, i) => item(each, i) ?? refuseGguf(file, `${prefix}${key}[${i}]`, `a list of ${wanted} was expected`))
  }
  const tokens = list(
    'tokens',
    (value, id) => {
      if (value.type === 'str' && value.bytes) broken ??= id
      return textIn(value)
    },
    'texts',
  )
  if (tokens.length === 0) refuseGguf(file, `${prefix}tokens`, 'the list is empty')
  if (tokens.length > maxTokens)
    refuseGguf(file, `${prefix}tokens`, `${tokens.length} tokens are more than any model has`)
  const perToken = (key: string): readonly number[] => {
    const values = list(key, numberIn, 'numbers')
    if (values.length === 0 || values.length === tokens.length) return values
    return refuseGguf(file, prefix + key, `${values.length} numbers, but there are ${tokens.length} tokens`)
  }
  const types = perToken('token_type')
  const specialId = (kind: SpecialKind): number | undefined => {
    const id = numberIn(metadata.get(`${prefix}${kind}_token_id`))
    return id !== undefined && tokens[id] !== undefined ? id : undefined
  }
  return {
    file,
    advice,
    model,
    pre: textIn(metadata.get(`${prefix}pre`)) ?? 'default',
    tokens,
    types: types.length > 0 ? types : tokens.map(() => tokenType.normal),
    scores: perToken('scores'),
    merges: list('merges', textIn, 'texts'),
    broken,
    specialId,
    special(kind) {
      const id = specialId(kind)
      return id === undefined ? undefined : tokens[id]
    },
    flag(name) {
      const value = metadata.get(prefix + name)
      return value?.type === 'bool' ? value.value : undefined
    },
    metadata,
  }
}

const textIn = (value: MetaValue | undefined): string | undefined => (value?.type === 'str' ? value.value : undefined)

function numberIn(value: MetaValue | undefined): number | undefined {
  if (!value || !('value' in value)) return undefined
  return typeof value.value === 'number' || typeof value.value === 'bigint' ? Number(value.value) : undefined
}

export const refuseGguf = (file: string, path: string, message: string, code: Code = familyCodes.tokenizer): never =>
  failWith(code, { file, path, message })

/** For tokenizers that only llama.cpp has code for. */
export function refuseUnknown(
  { file, advice }: GgufTokens,
  key: 'model' | 'pre',
  name: string,
  known: readonly string[],
): never {
  const message = `${JSON.stringify(name)} cannot be run here; known are ${known.join(', ')}. ${advice}`
  return refuseGguf(file, prefix + key, message, key === 'pre' ? familyCodes['pre-tokenizer'] : familyCodes.tokenizer)
}

/** Ids without a token are listed in GGUF, with the mark of a word's beginning where all words have it, and left out elsewhere. */
export const isPlaceholder = ({ tokens, types }: GgufTokens, id: number): boolean =>
  types[id] === tokenType.unused && tokens[id]!.replace(/^\u2581/, '') === placeholder(id)

/** Tokens that are found in a text before anything else is done to it. */
export const isAdded = ({ types }: GgufTokens, id: number): boolean =>
  types[id] === tokenType.control || types[id] === tokenType.userDefined

export const addedToken = ({ tokens, types }: GgufTokens, id: number): Config => ({
  id,
  content: tokens[id],
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: types[id] !== tokenType.userDefined,
})

/** The ids of texts, without those that stand for no token. Of two tokens with one text the last counts, as in llama.cpp. */
export function vocabularyOf(
  tokens: GgufTokens,
  textOf: (id: number) => string = (id) => tokens.tokens[id]!,
): Map<string, number> {
  const vocabulary = new Map<string, number>()
  for (const id of tokens.tokens.keys()) if (!isPlaceholder(tokens, id)) vocabulary.set(textOf(id), id)
  return vocabulary
}
