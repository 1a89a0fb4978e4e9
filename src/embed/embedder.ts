// Sentence embeddings straight from a container: the tokenizer comes from its vocabulary, the encoder from its tensors, and an engine
// computes.
import { checkAborted } from '../bytes/index.js'
import { callerWord, failWith, usageCodes } from '../errors/index.js'
import type { Model } from '../model/index.js'
import { createTokenizer, type Encoding, findVocabulary, type Tokenizer, type Vocabulary } from '../tokenize/index.js'
import { planBatches, type Row } from './batches.js'
import { embedCodes } from './codes.js'
import { type EncoderOptions, type EncoderShape, findEncoder } from './encoder.js'
import type { EmbedEngine } from './engine.js'
import type { EmbedProfile } from './graph.js'
import { readConfig } from './heads.js'
import { encoderFile, ropePayload } from './onnx-export.js'

/** The engine that computes, and how texts are prepared for it. */
export interface EmbedderOptions extends EncoderOptions {
  readonly engine: EmbedEngine
  /** `original` (default) is the model as BERT defines it, `reference` what the EMBD library computes. */
  readonly profile?: EmbedProfile | undefined
  /** Replaces the model's own vocabulary. A function is called only once the model has turned out to be an encoder. */
  readonly vocabulary?: Vocabulary | (() => Promise<Vocabulary>) | undefined
  /** The maximum number of ids per text. Default: the encoder's number of positions, or 256 in the reference profile. */
  readonly maxLength?: number | undefined
  /** Lower-case and strip accents; see the tokenizer. */
  readonly lowercase?: boolean | undefined
  /** Texts per batch, 16 by default. Texts longer than 32 tokens get smaller batches, so that memory stays about the same. */
  readonly batchSize?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface EmbedOptions {
  /** Whether to scale vectors to length 1. Default: true. */
  readonly normalize?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  /** Called with the number of finished texts. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

export interface Embedding {
  readonly vector: Float32Array
  /** Ids of the text, without padding. */
  readonly tokens: number
  /** Ids that were cut because the text is too long. */
  readonly cut: number
}

/** Turns texts into vectors. */
export interface Embedder {
  readonly profile: EmbedProfile
  readonly shape: EncoderShape
  readonly tokenizer: Tokenizer
  readonly maxLength: number
  /** The shapes do not show the orientation of linear weights; the container's default was used. */
  readonly isOrientationAssumed: boolean
  /** One embedding per text, in the same order. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Embedding[]>
  /** The same for texts that are already ids, including [CLS] and [SEP]. */
  embedIds(ids: readonly (readonly number[])[], options?: EmbedOptions): Promise<Float32Array[]>
  /** Releases the session of the engine. */
  close(): Promise<void>
}

const defaultBatch = 16
const referenceMaxLength = 256

/** Makes an embedder of a model that carries an encoder and its vocabulary. */
export async function createEmbedder(model: Model, options: EmbedderOptions): Promise<Embedder> {
  const { engine, profile = 'original', batchSize = defaultBatch, signal } = options
  const config = options.config ?? (await readConfig(model))
  const encoder = findEncoder(model, { ...options, config })
  const { file, shape } = encoder
  const isReference = profile === 'reference'
  const maxLength = options.maxLength ?? Math.min(shape.positions, isReference ? referenceMaxLength : shape.positions)
  if (maxLength > shape.positions) {
    const message = `texts of ${maxLength} tokens were requested, but the encoder has ${shape.positions} positions`
    failWith(usageCodes.option, { file: callerWord('--max-length', 'maxLength'), message })
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
  // The reference treats every [PAD] id as padding; elsewhere only what follows the text is.
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
      const message = `${ids.length} ids were given, but the encoder has ${shape.positions} positions`
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

async function chooseVocabulary(model: Model, chosen: EmbedderOptions['vocabulary']): Promise<Vocabulary> {
  if (chosen === undefined) return (await findVocabulary(model)).vocabulary
  return typeof chosen === 'function' ? chosen() : chosen
}

/** Divides by the length; a vector close to zero is left alone. */
function scaledToOne(vector: Float32Array): Float32Array {
  let squares = 0
  for (const value of vector) squares += value * value
  const length = Math.sqrt(squares)
  return length > 1e-12 ? vector.map((value) => value / length) : vector
}

/** The cosine of the angle between two vectors: 1 for the same direction, 0 if either is zero. */
export function cosineSimilarity(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) throw new RangeError(`vectors of ${a.length} and ${b.length} values cannot be compared`)
  let product = 0
  let squaresOfA = 0
  let squaresOfB = 0
  for (let i = 0; i < a.length; i++) {
    product += a[i]! * b[i]!
    squaresOfA += a[i]! * a[i]!
    squaresOfB += b[i]! * b[i]!
  }
  const lengths = Math.sqrt(squaresOfA) * Math.sqrt(squaresOfB)
  return lengths === 0 ? 0 : Math.max(-1, Math.min(1, product / lengths))
}
