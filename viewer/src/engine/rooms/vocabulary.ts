// The tokens of a model: from the vocabulary that some containers hold, or from the list that GGUF has in its metadata.
import { type Model, vocabularyOf } from 'tare/kit'

export interface TokenRow {
  readonly id: number
  readonly text: string
}

export interface VocabularyPage {
  readonly total: number
  readonly rows: readonly TokenRow[]
}

interface Tokens {
  readonly count: number
  text(from: number, to: number): readonly string[]
}

const lists = new WeakMap<Model, Tokens>()

export function vocabularyPage(model: Model, search: string, from: number, to: number): VocabularyPage {
  const tokens = lists.get(model) ?? tokensOf(model)
  lists.set(model, tokens)
  if (search === '') {
    const end = Math.min(to, tokens.count)
    return { total: tokens.count, rows: tokens.text(from, end).map((text, i) => ({ id: from + i, text })) }
  }
  const hits = search.startsWith('#') ? byId(tokens, search.slice(1)) : byText(tokens, search.toLowerCase())
  return { total: hits.length, rows: hits.slice(from, to) }
}

function byId(tokens: Tokens, text: string): TokenRow[] {
  const id = /^\d{1,9}$/.test(text) ? Number(text) : -1
  return id >= 0 && id < tokens.count ? [{ id, text: tokens.text(id, id + 1)[0]! }] : []
}

function byText(tokens: Tokens, wanted: string): TokenRow[] {
  const hits: TokenRow[] = []
  for (const [id, text] of tokens.text(0, tokens.count).entries())
    if (text.toLowerCase().includes(wanted)) hits.push({ id, text })
  return hits
}

function tokensOf(model: Model): Tokens {
  const list = model.metadata.get('tokenizer.ggml.tokens')
  if (list?.type === 'array') {
    const textOf = (item: { readonly type: string; readonly value?: unknown }): string =>
      item.type === 'str' ? String(item.value) : ''
    return {
      count: list.length,
      text: (from, to) => (list.slice?.(from, to) ?? list.values().slice(from, to)).map(textOf),
    }
  }
  const vocabulary = vocabularyOf(model.parts)
  const decoder = new TextDecoder()
  const tokens = vocabulary?.tokens ?? []
  return { count: tokens.length, text: (from, to) => tokens.slice(from, to).map((token) => decoder.decode(token)) }
}
