// A vocabulary is a list of tokens, indexed by id, and the ids of tokens with a special meaning. Formats share it as a part of kind
// `vocabulary`. Tokens are bytes: most are UTF-8, but nothing guarantees it.
import { compareBytes, encodeUtf8 } from '../bytes/index.js'
import type { Part } from '../model/model.js'

export const vocabularyKind = 'vocabulary'

export const specialTexts = { pad: '[PAD]', unk: '[UNK]', cls: '[CLS]', sep: '[SEP]', mask: '[MASK]' } as const
/** The special tokens that a vocabulary can have. */
export type SpecialName = keyof typeof specialTexts
export const specialNames = Object.keys(specialTexts) as readonly SpecialName[]

/** The ids of special tokens. */
export type SpecialIds = Readonly<Partial<Record<SpecialName, number>>>

/** The content of a vocabulary part. */
export interface Vocabulary {
  readonly tokens: readonly Uint8Array[]
  readonly special: SpecialIds
  /** The same tokens as ranges of one buffer. */
  readonly table?: TokenTable
}

/** Tokens as ranges of one buffer; a token is sliced out on access. */
export class TokenTable {
  readonly count: number
  readonly #bytes: Uint8Array
  readonly #starts: Uint32Array
  readonly #ends: Uint32Array

  constructor(bytes: Uint8Array, starts: Uint32Array, ends: Uint32Array) {
    this.count = starts.length
    this.#bytes = bytes
    this.#starts = starts
    this.#ends = ends
  }

  token(id: number): Uint8Array {
    return this.#bytes.subarray(this.#starts[id]!, this.#ends[id]!)
  }

  /** The ranges of all tokens: from `starts[id]` to `ends[id]` of `bytes`. */
  get spans(): { readonly bytes: Uint8Array; readonly starts: Uint32Array; readonly ends: Uint32Array } {
    return { bytes: this.#bytes, starts: this.#starts, ends: this.#ends }
  }

  /** The id of the first token with this text. */
  find(text: string): number | undefined {
    const wanted = encodeUtf8(text)
    for (let id = 0; id < this.count; id++) {
      if (this.#ends[id]! - this.#starts[id]! !== wanted.byteLength) continue
      if (compareBytes(this.token(id), wanted) === 0) return id
    }
    return undefined
  }

  all(): Uint8Array[] {
    return Array.from({ length: this.count }, (_, id) => this.token(id))
  }
}

export function tableOf(tokens: readonly Uint8Array[]): TokenTable {
  const starts = new Uint32Array(tokens.length)
  const ends = new Uint32Array(tokens.length)
  let length = 0
  for (const [id, token] of tokens.entries()) {
    starts[id] = length
    length += token.byteLength
    ends[id] = length
  }
  const bytes = new Uint8Array(length)
  for (const [id, token] of tokens.entries()) bytes.set(token, starts[id])
  return new TokenTable(bytes, starts, ends)
}

/** The special ids, found by the text of their tokens; absent if there is no such token. */
export function findSpecialIds(table: TokenTable): SpecialIds {
  const special: Partial<Record<SpecialName, number>> = {}
  for (const name of specialNames) {
    const id = table.find(specialTexts[name])
    if (id !== undefined) special[name] = id
  }
  return special
}

/** The shared part. Ids that are not given are found by the text of their token. */
export function vocabularyPart(table: TokenTable, special: SpecialIds = findSpecialIds(table)): Part {
  let tokens: readonly Uint8Array[] | undefined
  const content: Vocabulary = {
    get tokens() {
      tokens ??= table.all()
      return tokens
    },
    special,
    table,
  }
  return { kind: vocabularyKind, sharing: 'shared', value: { tokens: table.count, special: { ...special } }, content }
}

/** The vocabulary among the parts of a model; undefined if there is none. */
export function vocabularyOf(parts: readonly Part[]): Vocabulary | undefined {
  return parts.find((part) => part.kind === vocabularyKind)?.content as Vocabulary | undefined
}
