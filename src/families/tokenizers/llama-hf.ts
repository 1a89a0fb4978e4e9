// SentencePiece's BPE, kept as tokenizer.json: pieces have no scores there.
import { isObject } from '../facts.js'
import type { Config } from '../family.js'
import { isId, type TokenizerFiles, tokenText } from './files.js'
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
  const list = listTokens(files)
  return [...tokenEntries('llama', 'default', list), ...(await specialEntries(files, { limit: list.tokens.length }))]
}

const score = -1000

function listTokens({ tokenizerJson, tokenizerConfig, added }: TokenizerFiles): TokenList {
  const model = tokenizerJson!.model as Config
  const vocabulary = Object.entries(isObject(model.vocab) ? model.vocab : {}).filter((each): each is [string, number] =>
    isId(each[1]),
  )
  const byId = new Map(vocabulary.map(([token, id]) => [id, token]))
  for (const { id, content } of added) byId.set(id, content)
  const specials = specialTokens(tokenizerConfig)
  const list = { tokens: [] as string[], types: [] as number[], scores: [] as number[] }
  const put = (token: string, type: number): void => {
    list.tokens.push(token)
    list.types.push(type)
    list.scores.push(score)
  }
  const base = vocabulary.length
  for (let id = 0; id < base; id++) {
    const token = byId.get(id) ?? placeholder(id)
    if (/^<0x[0-9A-Fa-f]{2}>$/.test(token)) put(token, tokenType.byte)
    else put(token, specials.has(token) ? tokenType.control : tokenType.normal)
  }
  for (const { id, content } of added.toSorted((a, b) => a.id - b.id))
    if (id >= base) put(content, specials.has(content) ? tokenType.control : tokenType.userDefined)
  return list
}

const kinds = ['bos', 'eos', 'unk', 'sep', 'pad', 'cls', 'mask']
const defaults: Readonly<Record<string, string>> = { bos: '<s>', eos: '</s>', unk: '<unk>' }

function specialTokens(config: Config = {}): ReadonlySet<string> {
  const texts = kinds.map((kind) => (`${kind}_token` in config ? tokenText(config[`${kind}_token`]) : defaults[kind]))
  const more = Array.isArray(config.additional_special_tokens) ? config.additional_special_tokens.map(tokenText) : []
  return new Set([...texts, ...more].filter((each) => each !== undefined))
}
