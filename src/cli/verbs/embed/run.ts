import {
  createEmbedder,
  type Embedder,
  type EmbedEngine,
  nodeOnnxEngine,
  restoreStowed,
  TareError,
} from '../../../kit-node.js'
import { plural } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import { forEachModel } from '../../input/run-inputs.js'
import { chooseVocabulary, readTexts } from '../../input/texts.js'
import type { Status } from '../../status.js'
import type { EmbedOptions } from './index.js'
import { describeEmbeddings, describeSimilarities, type Embedded, similarityRow } from './text.js'

/** How many texts are computed before the first of them is printed. */
const textsAtOnce = 512

export default async function embed(
  context: Context,
  words: readonly string[],
  options: EmbedOptions,
): Promise<Status> {
  const [input = '', ...given] = words
  const texts = await readTexts(input, given, options.file)
  const engine = await findEngine(context, input)
  if (!engine) return 2
  return forEachModel(context, [input], async (opened) => {
    const { model } = await restoreStowed(opened)
    const embedder = await createEmbedder(model, {
      engine,
      profile: options.profile,
      maxLength: options.maxLength,
      heads: options.heads,
      lowercase: options.cased !== true,
      vocabulary: () => chooseVocabulary(context, model, options.vocab),
      signal: context.signal,
    })
    try {
      if (embedder.isOrientationAssumed && !context.json)
        context.console.remark(
          'the shapes do not show the orientation of linear weights; using the default of the format',
        )
      await embedAll(context, embedder, texts, options, { file: input, format: model.format })
      return 0
    } finally {
      await embedder.close()
    }
  })
}

/** Without an engine nothing can be computed, whatever the model is. */
async function findEngine({ console, json, threads }: Context, input: string): Promise<EmbedEngine | undefined> {
  try {
    return await nodeOnnxEngine({ threads })
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    const { code, message } = error.finding
    if (json) await console.json({ file: input, format: null, error: { code, message, offset: null, path: null } })
    else console.complainOf(error.finding)
    return undefined
  }
}

async function embedAll(
  context: Context,
  embedder: Embedder,
  texts: readonly string[],
  { similarity, normalize }: EmbedOptions,
  origin: { readonly file: string; readonly format: string },
): Promise<void> {
  const { console, json } = context
  const kept: Embedded[] = []
  let cutTexts = 0
  for (let first = 0; first < texts.length; first += textsAtOnce) {
    const batch = await embedSome(context, embedder, texts, first, normalize)
    cutTexts += batch.filter(({ cut }) => cut > 0).length
    if (similarity) kept.push(...batch)
    else if (json) for (const each of batch) await console.json(recordOf(embedder, each, origin))
    else await console.print(describeEmbeddings(batch, console, first === 0))
  }
  if (similarity && json) {
    for (const each of kept)
      await console.json({ ...recordOf(embedder, each, origin), similarity: similarityRow(each, kept) })
  } else if (similarity) await console.print(describeSimilarities(kept, console))
  if (cutTexts > 0 && !json)
    console.remark(`${plural(cutTexts, 'text')} longer than ${embedder.maxLength} tokens: the end was left out`)
}

async function embedSome(
  { console, signal }: Context,
  embedder: Embedder,
  texts: readonly string[],
  first: number,
  normalize: boolean | undefined,
): Promise<Embedded[]> {
  const some = texts.slice(first, first + textsAtOnce)
  const sizeOf = (list: readonly string[]): number => list.reduce((sum, text) => sum + text.length, 0)
  const [before, size, total] = [sizeOf(texts.slice(0, first)), sizeOf(some), sizeOf(texts)]
  const onProgress = (done: number, count: number): void =>
    console.progress.update({ done: before + Math.round((size * done) / count), total, path: `${first + done} texts` })
  const embeddings = await embedder.embed(some, { normalize, signal, onProgress })
  return embeddings.map((each, i) => ({ ...each, text: some[i]! }))
}

const recordOf = (embedder: Embedder, { text, tokens, cut, vector }: Embedded, origin: object) => ({
  ...origin,
  text,
  profile: embedder.profile,
  tokens,
  cut,
  vector: Array.from(vector, shortened),
})

/** Nine digits are enough to give back every f32. */
const shortened = (value: number): number => Number(value.toPrecision(9))
