// SentencePiece: tokenizer.model, with the scores of all pieces, and tokenizer.json, which other libraries read, with merges that follow from
// the scores. A file that was made from tokenizer.json has no scores, and becomes tokenizer.json again.
import { joinBytes } from '../../../bytes/index.js'
import { joinRopes, protoFloat, protoInt, protoMessage, protoText, type Rope } from '../../../wire/protobuf/write.js'
import type { Config } from '../../family.js'
import { tokenizerConfigFile, tokenizerFile } from '../../tokenizers/files.js'
import { addedScore, sentencePieceFile, unusedScore } from '../../tokenizers/sentence-piece.js'
import { tokenType } from '../../tokenizers/token-types.js'
import { numberAt, plainValue } from '../entries.js'
import { addedToken, isAdded, isPlaceholder, type PublishedTokenizer, type TokenizerSource } from './source.js'
import { specialsOf } from './specials.js'

export function publishSentencePiece(source: TokenizerSource): PublishedTokenizer {
  const { choice, metadata, tokens, types, scores } = source
  const hasScores = choice !== 'llama' || scores.some((score) => score !== addedScore)
  // Of Phi 3 whatever is listed as added loses its score.
  const isListed = (id: number): boolean =>
    (isAdded(source, id) || types[id] === tokenType.unknown) && (choice !== 'phi-3' || scores[id] === addedScore)
  const { config, settings, postProcessor } = specialsOf(source, isListed)
  const statedPrefix = plainValue(metadata.get('tokenizer.ggml.add_space_prefix'))
  const hasPrefix = statedPrefix !== false
  const listed = [...tokens.keys()].filter(isListed)
  const decoder = listed.filter((id) => isAdded(source, id) && scores[id] === addedScore)
  const isSpecial = (id: number): boolean => types[id] !== tokenType.userDefined
  const files = new Map<string, Config | Uint8Array>()
  if (hasScores) files.set(sentencePieceFile, piecesFile(source, hasPrefix))
  files.set(tokenizerFile, {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: listed.map((id) => addedToken(id, tokens[id]!, isSpecial(id))),
    normalizer: normalizer(hasPrefix),
    pre_tokenizer: null,
    post_processor: postProcessor,
    decoder: decoderFor(hasPrefix),
    model: modelOf(source, hasScores),
  })
  const named = new Set(Object.values(config))
  const more = decoder.filter((id) => isSpecial(id) && !named.has(tokens[id])).map((id) => tokens[id])
  files.set(tokenizerConfigFile, {
    ...(choice === 'llama' && statedPrefix !== undefined && { add_prefix_space: statedPrefix }),
    ...config,
    ...(hasScores
      ? {
          added_tokens_decoder: Object.fromEntries(
            decoder.map((id) => [id, withoutId(addedToken(id, tokens[id]!, isSpecial(id)))]),
          ),
        }
      : more.length > 0 && { additional_special_tokens: more }),
    clean_up_tokenization_spaces: false,
    legacy: true,
    tokenizer_class: choice.startsWith('gemma') ? 'GemmaTokenizer' : 'LlamaTokenizer',
  })
  return { files, settings }
}

const withoutId = ({ id: _, ...token }: Config): Config => token

const replace = (from: string, to: string): Config => ({ type: 'Replace', pattern: { String: from }, content: to })

function normalizer(hasPrefix: boolean): Config {
  const spaces = replace(' ', '\u2581')
  return hasPrefix ? { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: '\u2581' }, spaces] } : spaces
}

function decoderFor(hasPrefix: boolean): Config {
  const decoders: Config[] = [replace('\u2581', ' '), { type: 'ByteFallback' }, { type: 'Fuse' }]
  if (hasPrefix) decoders.push({ type: 'Strip', content: ' ', start: 1, stop: 0 })
  return { type: 'Sequence', decoders }
}

/** Without the tokens that were added after all pieces. */
function countPieces(source: TokenizerSource): number {
  const { tokens, scores } = source
  const isOutside = (id: number): boolean =>
    (isAdded(source, id) && scores[id] === addedScore) || (isPlaceholder(source, id) && scores[id] === unusedScore)
  let count = tokens.length
  while (count > 0 && isOutside(count - 1)) count--
  return count
}

function modelOf(source: TokenizerSource, hasScores: boolean): Config {
  const { tokens, types } = source
  const count = countPieces(source)
  // Of two pieces with one text, which programs cannot tell apart either, the first counts.
  const vocabulary = new Map<string, number>()
  for (let id = 0; id < count; id++) if (!vocabulary.has(tokens[id]!)) vocabulary.set(tokens[id]!, id)
  const unknown = types.indexOf(tokenType.unknown)
  const stated = numberAt(source.metadata, 'tokenizer.ggml.unknown_token_id') ?? unknown
  return {
    type: 'BPE',
    dropout: null,
    unk_token: tokens[stated] ?? null,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: true,
    byte_fallback: true,
    ignore_merges: false,
    vocab: Object.fromEntries(vocabulary),
    merges: mergesOf(source, vocabulary, hasScores),
  }
}

/** Every pair of pieces that makes a piece, the best piece first. Without scores, pieces are in that order. */
function mergesOf(source: TokenizerSource, vocabulary: ReadonlyMap<string, number>, hasScores: boolean): string[] {
  const { scores, types } = source
  const found: { readonly merge: string; readonly id: number; readonly left: number; readonly right: number }[] = []
  for (const [piece, id] of vocabulary) {
    if (types[id] !== tokenType.normal) continue
    for (let at = 1; at < piece.length; at++) {
      // Not between the halves of a character.
      if ((piece.charCodeAt(at) & 0xfc00) === 0xdc00) continue
      const [left, right] = [vocabulary.get(piece.slice(0, at)), vocabulary.get(piece.slice(at))]
      if (left !== undefined && right !== undefined)
        found.push({ merge: `${piece.slice(0, at)} ${piece.slice(at)}`, id, left, right })
    }
  }
  const scoreOf = (id: number): number => (hasScores ? scores[id]! : 0)
  found.sort((a, b) => scoreOf(b.id) - scoreOf(a.id) || a.id - b.id || a.left - b.left || a.right - b.right)
  return found.map(({ merge }) => merge)
}

/** Kinds of pieces, in SentencePiece's count. */
const kindOfType: Readonly<Record<number, number>> = {
  [tokenType.unknown]: 2,
  [tokenType.control]: 3,
  [tokenType.userDefined]: 4,
  [tokenType.unused]: 5,
  [tokenType.byte]: 6,
}

function piecesFile(source: TokenizerSource, hasPrefix: boolean): Uint8Array {
  const { tokens, scores, types, metadata } = source
  const count = countPieces(source)
  const pieces = Array.from({ length: count }, (_, id): Rope => {
    const kind = kindOfType[types[id]!]
    return protoMessage(1, [
      protoText(1, tokens[id]!),
      protoFloat(2, scores[id]!),
      ...(kind === undefined ? [] : [protoInt(3, kind)]),
    ])
  })
  const idOf = (kind: string): number => {
    const id = numberAt(metadata, `tokenizer.ggml.${kind}_token_id`)
    return id !== undefined && id < count ? id : -1
  }
  const unknown = types.indexOf(tokenType.unknown)
  const [bpe, isTrue, isFalse] = [2, 1, 0]
  const trainer = [
    protoInt(3, bpe),
    protoInt(4, count),
    protoInt(35, types.includes(tokenType.byte) ? isTrue : isFalse),
    protoInt(40, unknown < 0 ? Math.max(idOf('unknown'), 0) : unknown),
    protoInt(41, idOf('bos')),
    protoInt(42, idOf('eos')),
    protoInt(43, idOf('padding')),
  ]
  const normalizer = [
    protoText(1, 'identity'),
    protoInt(3, hasPrefix ? isTrue : isFalse),
    protoInt(4, isFalse),
    protoInt(5, isTrue),
  ]
  const model = joinRopes([...pieces, protoMessage(2, trainer), protoMessage(3, normalizer)])
  return joinBytes(model.pieces)
}
