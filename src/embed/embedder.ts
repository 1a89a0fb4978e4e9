// Sentence embeddings straight from a container: the tokenizer from its vocabulary, the encoder from its tensors, and an engine that
// computes.
import { checkAborted } from '../bytes/index.js'
import { failWith, usageCodes } from '../errors/index.js'
import type { Model } from '../model/index.js'
import { createTokenizer, type Encoding, findVocabulary, type Tokenizer, type Vocabulary } from '../tokenize/index.js'
import { planBatches, type Row } from './batches.js'
import { embedCodes } from './codes.js'
import { readConfig } from './config.js'
import { type EncoderOptions, type EncoderShape, findEncoder } from './encoder.js'
import type { EmbedEngine } from './engine.js'
import type { EmbedProfile } from './graph.js'
import { encoderFile, ropePayload } from './onnx-export.js'

export interface EmbedderOptions extends EncoderOptions {
  readonly engine: EmbedEngine
  /** `original` (default) is the model as BERT defines it, `reference` what the EMBD library computes. */
  readonly profile?: EmbedProfile | undefined
  /** In place of the one that the model brings. A function is asked only when the model has turned out to be an encoder. */
  readonly vocabulary?: Vocabulary | (() => Promise<Vocabulary>) | undefined
  /** The most ids of a text. Default: as many as the encoder has positions, or 256 in the reference profile. */
  readonly maxLength?: number | undefined
  /** Small letters and no accents; see the tokenizer. */
  readonly lowercase?: boolean | undefined
  /** Texts that are computed together; default 16. Of texts longer than 32 tokens fewer are, so that the memory stays about the same. */
  readonly batchSize?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface EmbedOptions {
  /** Whether vectors are scaled to length 1; default: they are. */
  readonly normalize?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  /** Told how many texts are done. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

export interface Embedding {
  readonly vector: Float32Array
  /** Ids of the text, padding not counted. */
  readonly tokens: number
  /** Ids that were left out, because the text is too long. */
  readonly cut: number
}

export interface Embedder {
  readonly profile: EmbedProfile
  readonly shape: EncoderShape
  readonly tokenizer: Tokenizer
  readonly maxLength: number
  /** The shapes do not tell how linear weights lie; what is usual for the container was taken. */
  readonly isOrientationAssumed: boolean
  /** One embedding per text, in the same order. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Embedding[]>
  /** The same for texts that are ids already, with [CLS] and [SEP]. */
  embedIds(ids: readonly (readonly number[])[], options?: EmbedOptions): Promise<Float32Array[]>
  close(): Promise<void>
}

const defaultBatch = 16
const referenceMaxLength = 256

export async function createEmbedder(model: Model, options: EmbedderOptions): Promise<Embedder> {
  const { engine, profile = 'original', batchSize = defaultBatch, signal } = options
  const config = options.config ?? (await readConfig(model))
  const encoder = findEncoder(model, { ...options, config })
  const { file, shape } = encoder
  const isReference = profile === 'reference'
  const maxLength = options.maxLength ?? Math.min(shape.positions, isReference ? referenceMaxLength : shape.positions)
  if (maxLength > shape.positions) {
    const message = `texts of ${maxLength} tokens were asked for, and the encoder has ${shape.positions} positions`
    failWith(usageCodes.option, { file: '--max-length', message })
  }
  const vocabulary = await chooseVocabulary(model, options.vocabulary)
  const tokenizer = createTokenizer(vocabulary, {
    profile: isReference ? 'reference' : 'bert',
    maxLength,
    lowercase: options.lowercase,
  })
  const onnx = ropePayload(encoderFile(encoder, { profile, normalize: false }))
  checkAborted(signal, file)
  const session = await engine.load(onnx, signal)
  const pad = vocabulary.special.pad ?? 0
  // The reference takes every id of [PAD] for padding; elsewhere padding is only what comes after the text.
  const counts = isReference ? (id: number) => id !== pad : () => true

  async function embedRows(rows: readonly Row[], { normalize = true, ...each }: EmbedOptions): Promise<Float32Array[]> {
    const vectors = new Array<Float32Array>(rows.length)
    let done = 0
    for (const { rows: members, batch } of planBatches(rows, batchSize, pad, counts)) {
      checkAborted(each.signal, file)
      const flat = await session.run(batch)
      for (const [i, { index }] of members.entries()) {
        const vector = flat.slice(i * shape.hidden, (i + 1) * shape.hidden)
        vectors[index] = normalize ? scaledToOne(vector) : vector
      }
      done += members.length
      each.onProgress?.(done, rows.length)
    }
    return vectors
  }

  function checkIds(ids: readonly number[]): readonly number[] {
    const wrong = ids.find((id) => !Number.isInteger(id) || id < 0 || id >= shape.vocabulary)
    if (wrong !== undefined) {
      const message = `there is no embedding for id ${wrong}; the encoder has ${shape.vocabulary}`
      failWith(embedCodes['id-range'], { file, message })
    }
    if (ids.length > shape.positions) {
      const message = `${ids.length} ids were given, and the encoder has ${shape.positions} positions`
      failWith(embedCodes['max-length'], { file, message })
    }
    if (!ids.some(counts)) failWith(embedCodes['only-padding'], { file, message: 'a text has no id besides padding' })
    return ids
  }

  const encodeText = (text: string): Encoding => tokenizer.encode(text)

  return {
    profile,
    shape,
    tokenizer,
    maxLength,
    isOrientationAssumed: encoder.isOrientationAssumed,

    async embed(texts, each = {}) {
      const encodings = texts.map(encodeText)
      const vectors = await embedRows(
        encodings.map(({ ids }, index) => ({ index, ids: checkIds(ids) })),
        each,
      )
      return encodings.map(({ count, cut }, i) => ({ vector: vectors[i]!, tokens: count, cut }))
    },

    embedIds: async (lists, each = {}) =>
      embedRows(
        lists.map((ids, index) => ({ index, ids: checkIds(ids) })),
        each,
      ),

    close: () => session.close(),
  }
}

async function chooseVocabulary(model: Model, given: EmbedderOptions['vocabulary']): Promise<Vocabulary> {
  if (given === undefined) return (await findVocabulary(model)).vocabulary
  return typeof given === 'function' ? given() : given
}

/** Divides by the length; a vector of nearly nothing stays as it is. */
function scaledToOne(vector: Float32Array): Float32Array {
  let squares = 0
  for (const value of vector) squares += value * value
  const length = Math.sqrt(squares)
  return length > 1e-12 ? vector.map((value) => value / length) : vector
}
