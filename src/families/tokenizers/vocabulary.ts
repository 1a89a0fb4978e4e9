// A vocabulary on its way into GGUF: texts by id, with the kind of each and, where the model has them, scores.
import { listOf, type MetaValue, text } from '../../model/index.js'
import { tokenType } from './token-types.js'

export interface TokenList {
  readonly tokens: string[]
  readonly types: number[]
  readonly scores?: number[] | undefined
}

/** The largest vocabulary that is believed; a configuration can state any number. */
export const maxTokens = 1 << 24

/** The scores of ids without a piece, and of tokens that are no pieces. */
export const unusedScore = -10000
export const addedScore = -1000

/** Ids without a token. */
export const placeholder = (id: number): string => `[PAD${id}]`

export function placeholders(count: number, score?: number): TokenList {
  const ids = Array.from({ length: count }, (_, id) => id)
  return {
    tokens: ids.map(placeholder),
    types: ids.map(() => tokenType.unused),
    ...(score !== undefined && { scores: ids.map(() => score) }),
  }
}

export type Entry = readonly [key: string, value: MetaValue]

export function tokenEntries(model: string, pre: string | undefined, { tokens, types, scores }: TokenList): Entry[] {
  return [
    ['tokenizer.ggml.model', text(model)],
    ...(pre === undefined ? [] : [['tokenizer.ggml.pre', text(pre)] as const]),
    ...listed('tokens', 'str', tokens, text),
    ...listed('scores', 'f32', scores ?? [], (value) => ({ type: 'f32', value })),
    ...listed('token_type', 'i32', types, (value) => ({ type: 'i32', value })),
  ]
}

function listed<T>(key: string, item: MetaValue['type'], values: readonly T[], as: (value: T) => MetaValue): Entry[] {
  return values.length === 0 ? [] : [[`tokenizer.ggml.${key}`, listOf(item, values.map(as))]]
}
