// SentencePiece's BPE, kept as tokenizer.json: pieces have no scores there.
import { isObject } from '../facts.js'
import type { Config } from '../family.js'
import { addedTokensOf } from './added-tokens.js'
import { vocabularyOf } from './bpe.js'
import { missingTokenizer, type TokenizerFiles, tokenizerFile } from './files.js'
import { specialEntries } from './special-tokens.js'
import { tokenType } from './token-types.js'
import { type Entry, placeholder, type TokenList, tokenEntries } from './vocabulary.js'

/** Whether tokenizer.json is of this kind. */
export function isLlamaHf(tokenizer: Config | undefined): boolean {
  const model = tokenizer?.model
  const decoder = tokenizer?.decoder
  return (
    isObject(model) &&
    model.type === 'BPE' &&
    model.byte_fallback === true &&
    isObject(decoder) &&
    decoder.type === 'Sequence'
  )
}

export async function llamaHfEntries(files: TokenizerFiles): Promise<Entry[]> {
  const list = await listTokens(files)
  return [...tokenEntries('llama', 'default', list), ...(await specialEntries(files, { limit: list.tokens.length }))]
}

const score = -1000

async function listTokens(files: TokenizerFiles): Promise<TokenList> {
  const tokenizer = files.tokenizerJson ?? missingTokenizer(files.directory, tokenizerFile)
  const vocabulary = vocabularyOf(tokenizer, files)
  const { added, specials } = await addedTokensOf(files, tokenizer, vocabulary)
  const byId = new Map([...vocabulary].map(([token, id]) => [id, token]))
  for (const { id, content } of added) byId.set(id, content)
  const list = { tokens: [] as string[], types: [] as number[], scores: [] as number[] }
  const put = (token: string, type: number): void => {
    list.tokens.push(token)
    list.types.push(type)
    list.scores.push(score)
  }
  const base = vocabulary.size
  for (let id = 0; id < base; id++) {
    const token = byId.get(id) ?? placeholder(id)
    if (/^<0x[0-9A-Fa-f]{2}>$/.test(token)) put(token, tokenType.byte)
    else put(token, specials.has(token) ? tokenType.control : tokenType.normal)
  }
  for (const { id, content } of added)
    if (id >= base) put(content, specials.has(content) ? tokenType.control : tokenType.userDefined)
  return list
}
