import {
  createEmbedder,
  type Embedder,
  type Embedding,
  type EmbedEngine,
  type EmbedProfile,
  nodeOnnxEngine,
  restoreStowed,
  TareError,
} from '../../../node.js'
import type { Context } from '../../context.js'
import { plural } from '../../console/format-values.js'
import { forEachModel } from '../../input/run-inputs.js'
import { describeSimilarities, similarityRow } from './text.js'
import type { Status } from '../../status.js'
import { formatTable } from '../../console/table.js'
import { chooseVocabulary, readTexts, titleOf } from '../../input/texts.js'

interface EmbedFlags {
  readonly file?: string
  readonly similarity?: boolean
  readonly profile?: EmbedProfile
  readonly maxLength?: number
  readonly heads?: number
  readonly vocab?: string
  readonly cased?: boolean
  readonly normalize?: boolean
  readonly threads?: number
}

interface Embedded extends Embedding {
  readonly text: string
}

/** Texts that are computed before the first of them is printed. */
const textsAtOnce = 512

export default async function embed(context: Context, words: readonly string[], flags: EmbedFlags): Promise<Status> {
  const [input = '', ...given] = words
  const texts = await readTexts(input, given, flags.file)
  const engine = await findEngine(context, input, flags.threads)
  if (!engine) return 2
  return forEachModel(context, [input], async (opened) => {
    const { model } = await restoreStowed(opened)
    const embedder = await createEmbedder(model, {
      engine,
      profile: flags.profile,
      maxLength: flags.maxLength,
      heads: flags.heads,
      lowercase: flags.cased !== true,
      vocabulary: () => chooseVocabulary(context, model, flags.vocab),
      signal: context.signal,
    })
    try {
      if (embedder.isOrientationAssumed && !context.json)
        context.console.remark('the shapes do not tell how linear weights lie; what is usual for the format was taken')
      await embedAll(context, embedder, texts, flags, { file: input, format: model.format })
      return 0
    } finally {
      await embedder.close()
    }
  })
}

/** Without an engine nothing can be computed, whatever the model is. */
async function findEngine(
  { console, json }: Context,
  input: string,
  threads: number | undefined,
): Promise<EmbedEngine | undefined> {
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
  flags: EmbedFlags,
  origin: { readonly file: string; readonly format: string },
): Promise<void> {
  const kept: Embedded[] = []
  let cutTexts = 0
  for (let first = 0; first < texts.length; first += textsAtOnce) {
    const batch = await embedSome(context, embedder, texts, first, flags.normalize)
    cutTexts += batch.filter(({ cut }) => cut > 0).length
    if (flags.similarity) kept.push(...batch)
    else if (context.json) for (const each of batch) await context.console.json(recordOf(embedder, each, origin))
    else await context.console.print(describe(context, batch, first === 0))
  }
  if (flags.similarity && context.json) {
    for (const each of kept)
      await context.console.json({ ...recordOf(embedder, each, origin), similarity: similarityRow(each, kept) })
  } else if (flags.similarity) await context.console.print(describeSimilarities(kept, context.console))
  if (context.json) return
  if (cutTexts > 0)
    context.console.remark(`${plural(cutTexts, 'text')} longer than ${embedder.maxLength} tokens: the end was left out`)
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

const shownValues = 6

/** One line per text. The whole vector is for programs, which ask for JSON. */
function* describe({ console }: Context, batch: readonly Embedded[], isFirst: boolean): Generator<string> {
  const rows = batch.map(({ text, tokens, vector }) => [
    titleOf(text, console.width),
    String(tokens),
    `${Array.from(vector.subarray(0, shownValues), (value) => value.toFixed(4).padStart(7)).join(' ')}${vector.length > shownValues ? ' …' : ''}`,
  ])
  const columns = [
    { title: 'text' },
    { title: 'tokens', align: 'right' as const },
    { title: `vector of ${plural(batch[0]?.vector.length ?? 0, 'value')}`, paint: console.color.dim },
  ]
  yield* formatTable(columns, rows, isFirst ? { head: console.color.underline } : {})
}
