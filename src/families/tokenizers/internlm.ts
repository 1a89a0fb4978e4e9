// InternLM has SentencePiece with rules of its own: the end of a turn ends a text, and in InternLM 2 added tokens come behind all pieces.
import type { Config } from '../family.js'
import { isId, missingTokenizer, refuseTokenizer, type TokenizerFiles } from './files.js'
import {
  decoderTokens,
  prefixEntry,
  readSentencePiece,
  sentencePieceFile,
  sentencePieceTokens,
  spacePrefix,
} from './sentence-piece.js'
import { specialEntries } from './special-tokens.js'
import { tokenType } from './token-types.js'
import { addedScore, type Entry, type TokenList, tokenEntries } from './vocabulary.js'

const turnEnd = '<|im_end|>'

export async function internLm2Entries(files: TokenizerFiles, config: Config): Promise<Entry[]> {
  const { directory } = files
  const bytes = (await directory.bytes(sentencePieceFile)) ?? missingTokenizer(directory, sentencePieceFile)
  const { pieces, addsPrefix } = await readSentencePiece(bytes, directory.pathOf(sentencePieceFile))
  const size = isId(config.vocab_size) ? config.vocab_size : pieces.length
  if (size > pieces.length)
    refuseTokenizer(directory, 'config.json', 'vocab_size', `${size}, and there are ${pieces.length} pieces`)
  const list: Required<TokenList> = { tokens: [], types: [], scores: [] }
  const put = (id: number, text: string, score: number, type: number): void => {
    list.tokens[id] = text
    list.scores[id] = score
    list.types[id] = type
  }
  // A text that is one zero byte would be an empty one.
  for (const [id, { text, score, type }] of pieces.slice(0, size).entries())
    put(id, text === '\0' ? '\u{1f409}' : text, score, text.startsWith('[UNUSED') ? tokenType.unused : type)
  for (const text of Object.keys((await directory.json('added_tokens.json')) ?? {}))
    put(list.tokens.length, text, addedScore, tokenType.userDefined)
  let end: number | undefined
  for (const { id, content, special } of [...decoderTokens(files), ...files.added]) {
    if (id >= list.tokens.length)
      refuseTokenizer(
        directory,
        sentencePieceFile,
        content,
        `its id is ${id}, and there are ${list.tokens.length} tokens`,
      )
    put(id, content, addedScore, special ? tokenType.control : tokenType.userDefined)
    if (content === turnEnd) end = id
  }
  return [
    ...tokenEntries('llama', 'default', list),
    [spacePrefix, { type: 'bool', value: addsPrefix }],
    ...(await specialEntries(files, {
      limit: list.tokens.length,
      ...(end !== undefined && { replaced: { eos: end } }),
    })),
  ]
}

export async function internLm3Entries(files: TokenizerFiles, config: Config): Promise<Entry[]> {
  const list = await sentencePieceTokens(files, config, 'common')
  const end = decoderTokens(files).find(({ content, special }) => special && content === turnEnd)?.id
  const specials = await specialEntries(files, { limit: list.tokens.length })
  const isEnd = ([key]: Entry): boolean => key === 'tokenizer.ggml.eos_token_id'
  return [
    ...tokenEntries('llama', 'default', list),
    ...prefixEntry(files),
    ...specials.map(
      (entry): Entry => (end !== undefined && isEnd(entry) ? [entry[0], { type: 'u32', value: end }] : entry),
    ),
  ]
}
