// Byte-level BPE, as most models have it, and WordPiece, which is listed in the same way.
import { isObject } from '../facts.js'
import type { Config } from '../family.js'
import { addedTokensOf } from './added-tokens.js'
import { isId, looksSpecial, missingTokenizer, refuseTokenizer, type TokenizerFiles, tokenizerFile } from './files.js'
import { type TextCodec, textCodec } from './library.js'
import { preTokenizerOf } from './pre-tokenizer.js'
import { synthesizedTokenizer } from './slow-files.js'
import { type SpecialOptions, specialEntries } from './special-tokens.js'
import { tokenType } from './token-types.js'
import { type Entry, maxTokens, placeholder, type TokenList, tokenEntries } from './vocabulary.js'

interface BpeOptions extends Pick<SpecialOptions, 'kinds' | 'known'> {
  /** Added tokens are what the files call them, whatever they look like. */
  readonly isPlain?: boolean
}

export async function bpeEntries(
  files: TokenizerFiles,
  config: Config,
  { isPlain, ...specials }: BpeOptions = {},
): Promise<Entry[]> {
  const { list, pre, tokenizer } = await listTokens(files, config, isPlain)
  const merges = mergesOf(tokenizer, files)
  return [...tokenEntries('gpt2', pre, list), ...(await specialEntries(files, { ...specials, merges }))]
}

/** GGUF marks the beginning of a word where WordPiece marks the pieces that continue one. */
export async function wordPieceEntries(files: TokenizerFiles, config: Config): Promise<Entry[]> {
  const { list, pre } = await listTokens(files, config)
  const tokens = list.tokens.map((token, id) => {
    if (list.types[id] === tokenType.control) return token
    return token.startsWith('##') ? token.slice(2) : `\u2581${token}`
  })
  return [
    typeCountEntry(config),
    ...tokenEntries('bert', pre, { ...list, tokens }),
    ...(await specialEntries(files, { limit: tokens.length })),
  ]
}

export const typeCountEntry = (config: Config): Entry => [
  'tokenizer.ggml.token_type_count',
  { type: 'u32', value: isId(config.type_vocab_size) ? config.type_vocab_size : 1 },
]

interface Listed {
  readonly list: TokenList
  readonly pre: string
  readonly tokenizer: Config
}

/** One token for each id below the size that the configuration states. */
async function listTokens(files: TokenizerFiles, config: Config, isPlain = false): Promise<Listed> {
  const { directory } = files
  const tokenizer =
    files.tokenizerJson ??
    (await synthesizedTokenizer(files)) ??
    missingTokenizer(directory, tokenizerFile, ...(files.substitutes ?? []))
  const vocabulary = vocabularyOf(tokenizer, files)
  const { added: all, listed } = await addedTokensOf(files, tokenizer, vocabulary)
  const distinct = new Set([...vocabulary.keys(), ...all.map(({ content }) => content)])
  const size = isId(config.vocab_size) ? config.vocab_size : distinct.size
  // Those that no tokenizer file lists may lack a place.
  const added = all.filter(({ id }) => id < Math.max(listed, size))
  const byId = new Map<number, string>()
  for (const [token, id] of vocabulary) byId.set(id, token)
  for (const { id, content } of added) byId.set(id, content)
  const addedById = new Map(added.map((token) => [token.id, token]))
  checkSize(files, size, byId)
  const codec = await textCodec({ ...tokenizer, added_tokens: added }, files.tokenizerConfig, (path, message) =>
    refuseTokenizer(directory, tokenizerFile, path, message),
  )
  const contents = new Map(added.map(({ content, id }) => [content, id]))
  const pre = files.pre ?? (await preTokenizerOf(files, codec, (token) => contents.get(token) ?? vocabulary.get(token)))
  const list: TokenList = { tokens: [], types: [] }
  const put = (token: string, type: number): void => {
    list.tokens.push(token)
    list.types.push(type)
  }
  for (let id = 0; id < size; id++) {
    const token = byId.get(id)
    const own = addedById.get(id)
    if (token === undefined) put(placeholder(id), tokenType.unused)
    else if (!own) put(token, tokenType.normal)
    else if (isPlain) put(token, own.special ? tokenType.control : tokenType.userDefined)
    else {
      const text = own.normalized ? token : throughLibrary(token, tokenizer, codec)
      if (own.special || looksSpecial(text)) put(text, tokenType.control)
      else put(text.replaceAll('\u2581', ' '), tokenType.userDefined)
    }
  }
  return { list, pre, tokenizer }
}

/** A token, encoded and decoded again. The characters of byte-level tokens become the bytes that they stand for, even in added tokens. */
function throughLibrary(token: string, { decoder }: Config, codec: TextCodec): string {
  const ids = codec.encode(token, false)
  const isItself = ids.length === 1 && codec.token(ids[0]!) === token
  if (!isItself || !isObject(decoder) || decoder.type !== 'ByteLevel') return codec.decode(ids)
  const bytes = Array.from(token, byteOfCharacter)
  return bytes.includes(undefined)
    ? token
    : new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes as number[]))
}

/** The byte that a character stands for in byte-level tokens. */
const byteOfCharacter = (() => {
  const isPrintable = (byte: number): boolean => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad)
  let others = 0x100
  const bytes = new Map<string, number>()
  for (let byte = 0; byte < 0x100; byte++) bytes.set(String.fromCodePoint(isPrintable(byte) ? byte : others++), byte)
  return (character: string): number | undefined => bytes.get(character)
})()

export function vocabularyOf(tokenizer: Config, { directory }: TokenizerFiles): Map<string, number> {
  const refuse = (path: string, message: string): never => refuseTokenizer(directory, tokenizerFile, path, message)
  const model = isObject(tokenizer.model) ? tokenizer.model : refuse('model', 'an object was expected')
  const type = model.type ?? (Array.isArray(model.merges) ? 'BPE' : 'WordPiece')
  if (type !== 'BPE' && type !== 'WordPiece')
    refuse('model.type', `${JSON.stringify(type)} is neither BPE nor WordPiece`)
  const vocab = isObject(model.vocab) ? model.vocab : refuse('model.vocab', 'an object was expected')
  const vocabulary = new Map<string, number>()
  for (const [token, id] of Object.entries(vocab)) {
    if (!isId(id)) refuse(`model.vocab[${JSON.stringify(token)}]`, `${JSON.stringify(id)} is not an id`)
    else vocabulary.set(token, id)
  }
  return vocabulary
}

function checkSize({ directory }: TokenizerFiles, size: number, byId: ReadonlyMap<number, string>): void {
  if (size > maxTokens)
    refuseTokenizer(directory, 'config.json', 'vocab_size', `${size} tokens are more than any model has`)
  for (const [id, token] of byId) {
    if (id < size) continue
    const message = `the token ${JSON.stringify(token)} has the id ${id}, and config.json says that there are ${size} tokens`
    refuseTokenizer(directory, tokenizerFile, 'model.vocab', message)
  }
}

/** Pairs are joined by a space, so a space inside of one becomes its byte-level form. */
export function mergesOf(tokenizer: Config, { directory }: TokenizerFiles): string[] {
  const merges = isObject(tokenizer.model) ? tokenizer.model.merges : undefined
  if (!Array.isArray(merges)) return []
  return merges.map((merge, i) => {
    if (typeof merge === 'string') return merge
    const isPair = Array.isArray(merge) && merge.length === 2 && merge.every((part) => typeof part === 'string')
    if (isPair) return merge.map((part: string) => part.replaceAll(' ', '\u0120')).join(' ')
    return refuseTokenizer(directory, tokenizerFile, `model.merges[${i}]`, 'a text or a pair of texts was expected')
  })
}
