// Tokenizers as models bring them: in tokenizer.json, in the files that came before it, or in the metadata of a GGUF file. They are run by
// the library that Hugging Face publishes for its own tokenizers.
import { decodeUtf8 } from '../bytes/index.js'
import { callerWord, failWith } from '../errors/index.js'
import { ModelDirectory } from '../families/directory.js'
import { isObject } from '../families/facts.js'
import type { Config } from '../families/family.js'
import { withAddedTokens } from '../families/tokenizers/added-tokens.js'
import { readTokenizerFiles, tokenizerFile } from '../families/tokenizers/files.js'
import { tokenizerJsonOf } from '../families/tokenizers/from-gguf/tokenizer-json.js'
import { textCodec } from '../families/tokenizers/library.js'
import { sentencePieceEntries, sentencePieceFile } from '../families/tokenizers/sentence-piece.js'
import { synthesizedTokenizer } from '../families/tokenizers/slow-files.js'
import type { Model } from '../model/index.js'
import { tokenizeCodes } from './codes.js'
import type { Encoding } from './tokenizer.js'

/** Turns texts into ids and back, as the model's own tokenizer does. */
export interface TextTokenizer {
  /** BPE, Unigram or WordPiece. */
  readonly kind: string
  /** The file that it was made of. */
  readonly file: string
  /** The ids of a text. */
  encode(text: string, options?: TextEncodeOptions): Encoding
  /** The text of the ids; unknown ids are skipped. */
  decode(ids: Iterable<number>, options?: TextDecodeOptions): string
  /** The text of one token, as the vocabulary has it. */
  token(id: number): string | undefined
}

/** How one text is encoded. */
export interface TextEncodeOptions {
  /** Leave out the tokens that the model wants around a text, such as the one for its beginning. */
  readonly withoutSpecials?: boolean | undefined
  /** The maximum number of ids; those beyond are cut. */
  readonly maxLength?: number | undefined
}

/** How ids are decoded. */
export interface TextDecodeOptions {
  /** Leave out tokens that are not text. */
  readonly withoutSpecials?: boolean | undefined
}

/** What a tokenizer is made of. */
export interface TextTokenizerSource {
  /** The content of tokenizer.json. */
  readonly tokenizer: unknown
  /** The content of tokenizer_config.json, if there is one. */
  readonly config?: unknown
  /** The name of the file, for messages. */
  readonly file?: string | undefined
}

/** Makes a tokenizer of what is in tokenizer.json. */
export async function createTextTokenizer(source: TextTokenizerSource): Promise<TextTokenizer> {
  const { tokenizer, config, file = tokenizerFile } = source
  const refuse = (path: string, message: string): never =>
    failWith(tokenizeCodes['tokenizer-file'], { file, path, message })
  if (!isObject(tokenizer)) return refuse('', 'a JSON object was expected')
  if (!isObject(tokenizer.model)) return refuse('model', 'an object was expected')
  const codec = await textCodec(tokenizer, isObject(config) ? config : undefined, refuse)
  return {
    kind: kindOf(tokenizer.model),
    file,
    encode(text, { withoutSpecials = false, maxLength = Number.POSITIVE_INFINITY } = {}) {
      const all = codec.encode(text, !withoutSpecials)
      const ids = all.length > maxLength ? all.slice(0, maxLength) : all
      return { ids, count: ids.length, cut: all.length - ids.length }
    },
    decode: (ids, { withoutSpecials = false } = {}) => codec.decode([...ids], withoutSpecials),
    token: (id) => codec.token(id),
  }
}

const kindOf = (model: Config): string =>
  typeof model.type === 'string' ? model.type : Array.isArray(model.merges) ? 'BPE' : 'WordPiece'

/** The tokenizer that a model brings; undefined if it has none. */
export async function findTextTokenizer(model: Model, signal?: AbortSignal): Promise<TextTokenizer | undefined> {
  const file = model.files[0]?.name ?? 'model'
  const carried = tokenizerJsonOf(model.metadata, file)
  if (carried) return createTextTokenizer({ tokenizer: carried, file })
  const directory = new ModelDirectory(model, signal)
  const files = await readTokenizerFiles(directory, (await directory.json('config.json')) ?? {})
  const config = files.tokenizerConfig
  const older =
    files.tokenizerJson || !(await directory.has('vocab.json')) ? undefined : await synthesizedTokenizer(files)
  const plain = files.tokenizerJson ?? older
  if (plain) {
    const tokenizer = await withAddedTokens(files, plain)
    return createTextTokenizer({ tokenizer, config, file: older ? file : directory.pathOf(tokenizerFile) })
  }
  if (!(await directory.has(sentencePieceFile))) return undefined
  const pieces = tokenizerJsonOf(new Map(await sentencePieceEntries(files, {})), directory.pathOf(sentencePieceFile))
  return pieces && createTextTokenizer({ tokenizer: pieces, config, file: directory.pathOf(sentencePieceFile) })
}

/** The content of tokenizer.json. */
export function parseTokenizerFile(bytes: Uint8Array, file: string): unknown {
  try {
    return JSON.parse(decodeUtf8(bytes) ?? '')
  } catch (error) {
    return failWith(tokenizeCodes['tokenizer-file'], { file, message: `it is not JSON: ${(error as Error).message}` })
  }
}

/** The ids in texts such as "1 2 3" or "[1, 2, 3]". */
export function parseIds(text: string): number[] {
  const words = text.replace(/^\s*\[|\]\s*$/g, '').split(/[\s,]+/)
  return words
    .filter((word) => word !== '')
    .map((word) => {
      const id = /^\d{1,9}$/.test(word) ? Number(word) : undefined
      const message = `${JSON.stringify(word)} is not an id; ${callerWord('--decode', 'decoding')} takes whole numbers`
      return id ?? failWith(tokenizeCodes['not-an-id'], { file: 'ids', message })
    })
}
