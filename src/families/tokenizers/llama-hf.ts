// SentencePiece's BPE, kept as tokenizer.json: pieces have no scores there.
import { isObject } from '../facts.js'
import type { Config } from '../family.js'
import { addedTokensOf } from './added-tokens.js'
import { mergesOf, vocabularyOf } from './bpe.js'
import { missingTokenizer, refuseTokenizer, type TokenizerFiles, tokenizerFile } from './files.js'
import { spacePrefix } from './sentence-piece.js'
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

/** Chat parsers have to see these. */
const visible: ReadonlySet<string> = new Set([
  '<|channel>',
  '<channel|>',
  '<|tool_call>',
  '<tool_call|>',
  '<|tool_response>',
  '<tool_response|>',
  '<|"|>',
])

/** The same with the merges of tokenizer.json. */
export async function gemma4Entries(files: TokenizerFiles): Promise<Entry[]> {
  if (!isLlamaHf(files.tokenizerJson))
    refuseTokenizer(files.directory, tokenizerFile, 'model', 'BPE with a fallback to bytes was expected')
  const list = await listTokens(files)
  const types = list.types.map((type, id) => (visible.has(list.tokens[id]!) ? tokenType.userDefined : type))
  const merges = mergesOf(files.tokenizerJson!, files)
  return [
    ...tokenEntries('gemma4', undefined, { ...list, types }),
    ...(await specialEntries(files, { merges })),
    [spacePrefix, { type: 'bool', value: false }],
    ['tokenizer.ggml.add_bos_token', { type: 'bool', value: true }],
  ]
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
