// A SentencePiece model is a protobuf message with one field for each piece: its text, its score and its kind.
import { decodeUtf8, MemorySource } from '../../bytes/index.js'
import { failWith, strictReport } from '../../errors/index.js'
import { message, ProtobufReader } from '../../wire/protobuf/protobuf.js'
import { familyCodes } from '../codes.js'
import { isObject } from '../facts.js'
import type { Config } from '../family.js'
import {
  isId,
  looksSpecial,
  missingTokenizer,
  refuseTokenizer,
  type TokenizerFiles,
  tokenizerConfigFile,
} from './files.js'
import { specialEntries } from './special-tokens.js'
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

export const sentencePieceFile = 'tokenizer.model'

interface Piece {
  readonly text: string
  readonly score: number
  readonly type: number
}

/** How strictly added tokens are taken: Phi 3 has rules of its own. */
export type AddedRules = 'common' | 'phi-3'

export async function sentencePieceEntries(
  files: TokenizerFiles,
  config: Config,
  rules: AddedRules = 'common',
): Promise<Entry[]> {
  const list = await sentencePieceTokens(files, config, rules)
  return [...tokenEntries('llama', 'default', list), ...(await specialEntries(files, { limit: list.tokens.length }))]
}

export const spacePrefix = 'tokenizer.ggml.add_space_prefix'

/** Whether a space is put before a text, where tokenizer_config.json says it. */
export function prefixEntry({ tokenizerConfig }: TokenizerFiles): Entry[] {
  const value = tokenizerConfig?.add_prefix_space
  return typeof value === 'boolean' ? [[spacePrefix, { type: 'bool', value }]] : []
}

export async function sentencePieceTokens(
  files: TokenizerFiles,
  config: Config,
  rules: AddedRules,
): Promise<TokenList> {
  const { directory } = files
  const bytes = (await directory.bytes(sentencePieceFile)) ?? missingTokenizer(directory, sentencePieceFile)
  const { pieces } = await readSentencePiece(bytes, directory.pathOf(sentencePieceFile))
  const stated = isId(config.vocab_size) ? config.vocab_size : 0
  const size = stated || pieces.length
  if (size > maxTokens)
    refuseTokenizer(directory, 'config.json', 'vocab_size', `${size} tokens are more than any model has`)
  const list = placeholders(size, unusedScore)
  const put = (id: number, text: string, score: number, type: number): void => {
    if (id >= size) return
    list.tokens[id] = text
    list.scores![id] = score
    list.types[id] = type
  }
  for (const [id, { text, score, type }] of pieces.entries()) put(id, text, score, type)
  for (const [text, id] of Object.entries((await directory.json('added_tokens.json')) ?? {}))
    if (isId(id)) put(id, text, addedScore, tokenType.userDefined)
  for (const { id, content, special } of [...decoderTokens(files), ...(rules === 'phi-3' ? files.added : [])]) {
    const isControl = special || (rules === 'common' && looksSpecial(content))
    const text = isControl || rules === 'phi-3' ? content : content.replaceAll('\u2581', ' ')
    put(id, text, addedScore, isControl ? tokenType.control : tokenType.userDefined)
  }
  return list
}

export interface DecoderToken {
  readonly id: number
  readonly content: string
  readonly special: boolean
}

/** In the order of the file: numbers, by size. */
export function decoderTokens({ tokenizerConfig, directory }: TokenizerFiles): DecoderToken[] {
  const decoder = tokenizerConfig?.added_tokens_decoder
  if (!isObject(decoder)) return []
  return Object.entries(decoder).map(([key, token]) => {
    const id = Number(key)
    if (isId(id) && isObject(token) && typeof token.content === 'string')
      return { id, content: token.content, special: Boolean(token.special) }
    const path = `added_tokens_decoder[${JSON.stringify(key)}]`
    return refuseTokenizer(directory, tokenizerConfigFile, path, 'an id and a content were expected')
  })
}

const pieceMessage = message({ 1: ['piece', 'bytes'], 2: ['score', 'float'], 3: ['type', 'varint'] })
const trainerMessage = message({ 3: ['model_type', 'varint'], 35: ['byte_fallback', 'varint'] })
const normalizerMessage = message({
  2: ['precompiled_charsmap', 'bytes'],
  3: ['add_dummy_prefix', 'varint'],
  4: ['remove_extra_whitespaces', 'varint'],
})
const modelMessage = message({
  1: ['pieces', 'bytes', () => pieceMessage],
  2: ['trainer_spec', 'bytes', () => trainerMessage],
  3: ['normalizer_spec', 'bytes', () => normalizerMessage],
})

/** Pieces that a user defined count as normal ones. */
const typeOfKind: Readonly<Record<number, number>> = {
  2: tokenType.unknown,
  3: tokenType.control,
  5: tokenType.unused,
  6: tokenType.byte,
}

export interface SentencePieceModel {
  readonly pieces: readonly Piece[]
  /** Pieces are chosen by the best sum of their scores. */
  readonly isUnigram: boolean
  readonly charsmap: Uint8Array
  readonly addsPrefix: boolean
  readonly removesSpaces: boolean
}

export async function readSentencePiece(bytes: Uint8Array, file: string): Promise<SentencePieceModel> {
  const source = new MemorySource(bytes, file)
  const reader = new ProtobufReader(source, strictReport(file))
  const pieces: Piece[] = []
  // What the format takes where a file does not say it.
  let [isUnigram, hasBytes, addsPrefix, removesSpaces] = [true, false, true, true]
  let charsmap = new Uint8Array()
  await reader.walk({ start: 0, end: bytes.byteLength }, '', modelMessage, async ({ field, start, end }) => {
    if (field === 2)
      await reader.walk({ start, end }, 'trainer_spec', trainerMessage, ({ field: each, int32 }) => {
        if (each === 3) isUnigram = int32 === 1
        else hasBytes = int32 !== 0
        return true
      })
    else if (field === 3)
      await reader.walk({ start, end }, 'normalizer_spec', normalizerMessage, (each) => {
        if (each.field === 2) charsmap = bytes.slice(each.start, each.end)
        else if (each.field === 3) addsPrefix = each.int32 !== 0
        else removesSpaces = each.int32 !== 0
        return true
      })
    else pieces.push(await readPiece(reader, bytes, { start, end }, file, pieces.length))
    return true
  })
  checkPieces(pieces, hasBytes, file)
  return { pieces, isUnigram, charsmap, addsPrefix, removesSpaces }
}

async function readPiece(
  reader: ProtobufReader,
  bytes: Uint8Array,
  range: { readonly start: number; readonly end: number },
  file: string,
  id: number,
): Promise<Piece> {
  let [text, score, kind] = ['', 0, 1]
  await reader.walk(range, `pieces[${id}]`, pieceMessage, (field) => {
    if (field.field === 1)
      text = decodeUtf8(bytes.subarray(field.start, field.end)) ?? refusePiece(file, id, 'it is not UTF-8')
    else if (field.field === 2)
      score = new DataView(bytes.buffer, bytes.byteOffset + field.start, 4).getFloat32(0, true)
    else kind = field.int32
    return true
  })
  return { text, score, type: typeOfKind[kind] ?? tokenType.normal }
}

const refusePiece = (file: string, id: number, message: string): never =>
  failWith(familyCodes.tokenizer, { file, path: `pieces[${id}]`, message })

/** What SentencePiece wants of its files, and refuses to open otherwise. */
function checkPieces(pieces: readonly Piece[], hasBytes: boolean, file: string): void {
  const refuse = (message: string): never => failWith(familyCodes.tokenizer, { file, path: 'pieces', message })
  // Pieces of text, and those that stand for something else.
  const [texts, others] = [new Map<string, number>(), new Map<string, number>()]
  const counts = { [tokenType.unknown]: 0, [tokenType.byte]: 0 } as Record<number, number>
  for (const [id, { text, type }] of pieces.entries()) {
    if (text === '') refusePiece(file, id, 'it is empty')
    const known = type === tokenType.normal || type === tokenType.unused ? texts : others
    const before = known.get(text)
    if (before !== undefined) refusePiece(file, id, `it is ${JSON.stringify(text)}, and so is piece ${before}`)
    known.set(text, id)
    counts[type] = (counts[type] ?? 0) + 1
  }
  if (counts[tokenType.unknown] !== 1)
    refuse(`one piece stands for what is unknown, and there are ${counts[tokenType.unknown]}`)
  if (hasBytes && counts[tokenType.byte] !== 256)
    refuse(`there are ${counts[tokenType.byte]} pieces for bytes, and trainer_spec.byte_fallback wants 256`)
}
