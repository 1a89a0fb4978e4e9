// SentencePiece: tokenizer.model, with the scores of all pieces, beside tokenizer.json, which other libraries read. A file that was made from
// tokenizer.json has no scores, and becomes that alone.
import { joinBytes } from '../../../bytes/index.js'
import {
  joinRopes,
  protoBytes,
  protoFloat,
  protoInt,
  protoMessage,
  protoText,
  type Rope,
} from '../../../wire/protobuf/write.js'
import type { Config, TokenizerChoice } from '../../family.js'
import { addedToken, type GgufTokens, isAdded, type SpecialKind } from '../../tokenizers/from-gguf/gguf-tokens.js'
import { countPieces } from '../../tokenizers/from-gguf/sentence-piece.js'
import { charsmapIn } from '../../tokenizers/from-gguf/unigram.js'
import { sentencePieceFile } from '../../tokenizers/sentence-piece.js'
import { tokenType } from '../../tokenizers/token-types.js'
import { t5File } from '../../tokenizers/unigram.js'
import { addedScore } from '../../tokenizers/vocabulary.js'
import type { PublishedKind } from './kind.js'

export function sentencePiece(tokens: GgufTokens, choice: TokenizerChoice): PublishedKind {
  const { types, scores } = tokens
  const hasScores = choice !== 'llama' || scores.some((score) => score !== addedScore)
  // Of Phi 3 whatever is listed as added loses its score.
  const isListed = (id: number): boolean =>
    (isAdded(tokens, id) || types[id] === tokenType.unknown) && (choice !== 'phi-3' || scores[id] === addedScore)
  const statedPrefix = tokens.flag('add_space_prefix')
  return {
    isListed,
    config: (specials) => ({
      ...(choice === 'llama' && statedPrefix !== undefined && { add_prefix_space: statedPrefix }),
      ...specials,
      ...addedEntries(tokens, hasScores, specials),
      clean_up_tokenization_spaces: false,
      legacy: true,
      tokenizer_class: choice.startsWith('gemma') ? 'GemmaTokenizer' : 'LlamaTokenizer',
    }),
    files: hasScores ? new Map([[sentencePieceFile, piecesFile(tokens, modelTypes.bpe)]]) : undefined,
  }
}

/** The tokens that are no pieces: with pieces, all of them; without, those that nothing else says to be special. */
export function addedEntries(tokens: GgufTokens, hasScores: boolean, specials: Config): Config {
  const ids = [...tokens.tokens.keys()].filter((id) => isAdded(tokens, id) && (tokens.scores[id] ?? 0) === addedScore)
  if (hasScores)
    return {
      added_tokens_decoder: Object.fromEntries(
        ids.map((id) => {
          const { id: _, ...token } = addedToken(tokens, id)
          return [id, token]
        }),
      ),
    }
  const named = new Set(Object.values(specials))
  const isMore = (id: number): boolean => tokens.types[id] === tokenType.control && !named.has(tokens.tokens[id])
  const more = ids.filter(isMore).map((id) => tokens.tokens[id])
  return more.length > 0 ? { additional_special_tokens: more } : {}
}

/** The pieces of a Unigram model; tokens behind them, which it does not have, are in a file of their own. */
export function t5Files(tokens: GgufTokens): Map<string, Config | Uint8Array> {
  const ids = [...tokens.tokens.keys()].filter((id) => tokens.types[id] === tokenType.userDefined)
  const added = ids.filter((id) => tokens.scores[id] === addedScore).map((id) => [tokens.tokens[id]!, id])
  return new Map<string, Config | Uint8Array>([
    [t5File, piecesFile(tokens, modelTypes.unigram)],
    ...(added.length > 0 ? [['added_tokens.json', Object.fromEntries(added)] as const] : []),
  ])
}

/** Kinds of pieces, in SentencePiece's count. */
const kindOfType: Readonly<Record<number, number>> = {
  [tokenType.unknown]: 2,
  [tokenType.control]: 3,
  [tokenType.userDefined]: 4,
  [tokenType.unused]: 5,
  [tokenType.byte]: 6,
}

/** SentencePiece wants one. In GGUF it is a control token where tokenizer_config.json lists it; added_tokens_decoder says so again. */
function unknownPiece(tokens: GgufTokens, count: number): number {
  const id = tokens.types.indexOf(tokenType.unknown)
  if (id >= 0) return id
  const named = tokens.specialId('unknown') ?? tokens.tokens.indexOf('<unk>')
  return named < count && tokens.types[named] === tokenType.control ? named : -1
}

const modelTypes = { unigram: 1, bpe: 2 } as const

function piecesFile(tokens: GgufTokens, modelType: number): Uint8Array {
  const { types, scores } = tokens
  const count = countPieces(tokens)
  const unknown = unknownPiece(tokens, count)
  const pieces = Array.from({ length: count }, (_, id): Rope => {
    const kind = kindOfType[id === unknown ? tokenType.unknown : types[id]!]
    return protoMessage(1, [
      protoText(1, tokens.tokens[id]!),
      protoFloat(2, scores[id] ?? 0),
      ...(kind === undefined ? [] : [protoInt(3, kind)]),
    ])
  })
  const idOf = (kind: SpecialKind): number => {
    const id = tokens.specialId(kind)
    return id !== undefined && id < count ? id : -1
  }
  const bytes = types.filter((type) => type === tokenType.byte).length
  const [isTrue, isFalse] = [1, 0]
  const trainer = [
    protoInt(3, modelType),
    protoInt(4, count),
    protoInt(35, bytes === 256 ? isTrue : isFalse),
    protoInt(40, Math.max(unknown, 0)),
    protoInt(41, idOf('bos')),
    protoInt(42, idOf('eos')),
    protoInt(43, idOf('padding')),
  ]
  const hasPrefix = tokens.flag('add_space_prefix') !== false
  const charsmap = charsmapIn(tokens)
  const normalizer = [
    protoText(1, charsmap ? 'precompiled' : 'identity'),
    ...(charsmap ? [protoBytes(2, charsmap)] : []),
    protoInt(3, hasPrefix ? isTrue : isFalse),
    protoInt(4, tokens.flag('remove_extra_whitespaces') === true ? isTrue : isFalse),
    protoInt(5, isTrue),
  ]
  const model = joinRopes([...pieces, protoMessage(2, trainer), protoMessage(3, normalizer)])
  return joinBytes(model.pieces)
}
