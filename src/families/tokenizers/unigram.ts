// XLM-RoBERTa and T5: pieces that are chosen by the best sum of their scores, from a SentencePiece model or from tokenizer.json.
import { listOf } from '../../model/index.js'
import { isObject } from '../facts.js'
import type { Config } from '../family.js'
import { typeCountEntry } from './bpe.js'
import { isId, missingTokenizer, refuseTokenizer, type TokenizerFiles, tokenizerFile, tokenText } from './files.js'
import {
  readSentencePiece,
  type SentencePieceModel,
  sentencePieceEntries,
  sentencePieceFile,
} from './sentence-piece.js'
import { commonKinds, specialEntries } from './special-tokens.js'
import { tokenType } from './token-types.js'
import {
  addedScore,
  type Entry,
  maxTokens,
  placeholders,
  type TokenList,
  tokenEntries,
  unusedScore,
} from './vocabulary.js'

export const unigramFile = 'sentencepiece.bpe.model'
/** What most models of the kind of T5 call it. */
export const t5File = 'spiece.model'

interface Unigram {
  readonly list: Required<TokenList>
  readonly charsmap: Uint8Array
  readonly addsPrefix: boolean
  readonly removesSpaces: boolean
}

export async function unigramEntries(files: TokenizerFiles, config: Config): Promise<Entry[]> {
  const bytes = await files.directory.bytes(unigramFile)
  const unigram = bytes ? await fromModel(files, bytes, config) : fromJson(files, config)
  return entriesOf(files, unigram, [typeCountEntry(config)])
}

async function entriesOf(files: TokenizerFiles, unigram: Unigram, more: readonly Entry[] = []): Promise<Entry[]> {
  const { list, charsmap, addsPrefix, removesSpaces } = unigram
  const flag = (key: string, value: boolean): Entry => [`tokenizer.ggml.${key}`, { type: 'bool', value }]
  const map = Array.from(charsmap, (value) => ({ type: 'u8', value }) as const)
  return [
    ...tokenEntries('t5', 'default', list),
    flag('add_space_prefix', addsPrefix),
    ...more,
    flag('remove_extra_whitespaces', removesSpaces),
    ...(map.length > 0 ? [['tokenizer.ggml.precompiled_charsmap', listOf('u8', map)] as Entry] : []),
    ...(await specialEntries(files, { limit: list.tokens.length })),
  ]
}

/** T5 has the pieces of its model as they are, and as many as the configuration says. */
export async function t5Entries(files: TokenizerFiles, config: Config): Promise<Entry[]> {
  const { directory } = files
  const name = (await directory.has(sentencePieceFile)) ? sentencePieceFile : t5File
  const bytes = (await directory.bytes(name)) ?? missingTokenizer(directory, t5File, sentencePieceFile)
  const { pieces, isUnigram, ...rest } = await readSentencePiece(bytes, directory.pathOf(name))
  if (!isUnigram) {
    if (name === sentencePieceFile) return sentencePieceEntries(files, config)
    return refuseTokenizer(directory, name, 'trainer_spec.model_type', 'a unigram model was expected')
  }
  const size = isId(config.vocab_size) ? config.vocab_size : pieces.length
  if (pieces.length > size)
    refuseTokenizer(directory, name, 'pieces', `${pieces.length} pieces, and config.json says that there are ${size}`)
  const list = filled(files, config, pieces)
  for (const [text, id] of Object.entries((await directory.json('added_tokens.json')) ?? {})) {
    if (!isId(id) || id >= size) continue
    list.tokens[id] = text
    list.scores[id] = addedScore
    list.types[id] = tokenType.userDefined
  }
  return entriesOf(files, { list, ...rest })
}

function filled(files: TokenizerFiles, config: Config, pieces: SentencePieceModel['pieces']): Required<TokenList> {
  const list = emptyList(files, config, pieces.length)
  for (const [id, { text, score, type }] of pieces.entries()) {
    list.tokens[id] = text
    list.scores[id] = score
    list.types[id] = type
  }
  return list
}

/** As many as the configuration says, and as many as there are. */
function emptyList({ directory }: TokenizerFiles, config: Config, count: number): Required<TokenList> {
  const size = Math.max(isId(config.vocab_size) ? config.vocab_size : 0, count)
  if (size > maxTokens)
    refuseTokenizer(directory, 'config.json', 'vocab_size', `${size} tokens are more than any model has`)
  return placeholders(size, unusedScore) as Required<TokenList>
}

/** The first tokens of the library are others than those of the model, and all behind them one further. */
async function fromModel(files: TokenizerFiles, bytes: Uint8Array, config: Config): Promise<Unigram> {
  const { directory } = files
  const { pieces, isUnigram, ...rest } = await readSentencePiece(bytes, directory.pathOf(unigramFile))
  if (!isUnigram) refuseTokenizer(directory, unigramFile, 'trainer_spec.model_type', 'a unigram model was expected')
  const list = filled(files, config, pieces)
  const { control, unknown } = tokenType
  return {
    list: {
      tokens: ['<s>', '<pad>', '</s>', '<unk>', ...list.tokens.slice(3, -1)],
      scores: [0, 0, 0, 0, ...list.scores.slice(3, -1)],
      types: [control, control, control, unknown, ...list.types.slice(3, -1)],
    },
    ...rest,
  }
}

function fromJson(files: TokenizerFiles, config: Config): Unigram {
  const { directory, added } = files
  const refuse = (path: string, message: string): never => refuseTokenizer(directory, tokenizerFile, path, message)
  const tokenizer = files.tokenizerJson ?? missingTokenizer(directory, tokenizerFile, unigramFile)
  const { model, normalizer } = tokenizer
  if (!isObject(model) || model.type !== 'Unigram' || !Array.isArray(model.vocab))
    return refuse('model', 'a Unigram model was expected')
  const charsmap = isObject(normalizer) ? normalizer.precompiled_charsmap : undefined
  if (typeof charsmap !== 'string') return refuse('normalizer.precompiled_charsmap', 'a text was expected')
  const list = emptyList(files, config, model.vocab.length)
  const stated = files.tokenizerConfig ?? {}
  const idOf = (content: string | undefined): number | undefined => added.find((each) => each.content === content)?.id
  const unknown = idOf(tokenText(stated.unk_token)) ?? model.unk_id ?? 3
  const places = new Map(model.vocab.map((piece, id) => [Array.isArray(piece) ? piece[0] : undefined, id]))
  // A word of the vocabulary can be a special token without being listed.
  const special = specialIds(
    stated,
    (content) => idOf(content) ?? (content === undefined ? undefined : places.get(content)),
  )
  const addedIds = new Set(added.map(({ id }) => id))
  for (const [id, piece] of model.vocab.entries()) {
    const [text, score] = Array.isArray(piece) ? piece : []
    if (typeof text !== 'string' || typeof score !== 'number')
      return refuse(`model.vocab[${id}]`, 'a text and a score were expected')
    list.tokens[id] = text
    list.scores[id] = score
    if (id === unknown) list.types[id] = tokenType.unknown
    else if (special.has(id)) list.types[id] = tokenType.control
    else list.types[id] = addedIds.has(id) ? tokenType.userDefined : tokenType.normal
  }
  return {
    list,
    charsmap: decodeBase64(charsmap) ?? refuse('normalizer.precompiled_charsmap', 'it is not base64'),
    addsPrefix: stated.add_prefix_space === true,
    removesSpaces: stated.clean_up_tokenization_spaces === true,
  }
}

/** What the library takes where tokenizer_config.json does not say it. */
const libraryTokens: Readonly<Record<string, string>> = {
  bos: '<s>',
  eos: '</s>',
  sep: '</s>',
  cls: '<s>',
  unk: '<unk>',
  pad: '<pad>',
  mask: '<mask>',
}

function specialIds(stated: Config, idOf: (content: string | undefined) => number | undefined): ReadonlySet<number> {
  const more = Array.isArray(stated.additional_special_tokens) ? stated.additional_special_tokens : []
  const texts = [...commonKinds.map((kind) => stated[`${kind}_token`] ?? libraryTokens[kind]), ...more]
  return new Set(texts.flatMap((each) => idOf(tokenText(each)) ?? []))
}

function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
