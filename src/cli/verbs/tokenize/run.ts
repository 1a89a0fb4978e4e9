import { createTokenizer, type Encoding, restoreStowed, type Tokenizer } from '../../../node.js'
import type { Context } from '../../context.js'
import { escapeText } from '../../console/escape.js'
import { plural } from '../../console/format-values.js'
import { forEachModel } from '../../input/run-inputs.js'
import type { Status } from '../../status.js'
import { formatTable } from '../../console/table.js'
import { chooseVocabulary, readTexts, titleOf } from '../../input/texts.js'

interface TokenizeFlags {
  readonly file?: string
  readonly profile?: 'original' | 'bert' | 'reference'
  readonly maxLength?: number
  readonly vocab?: string
  readonly cased?: boolean
}

export default async function tokenize(
  context: Context,
  words: readonly string[],
  flags: TokenizeFlags,
): Promise<Status> {
  const [input = '', ...given] = words
  const texts = await readTexts(input, given, flags.file)
  return forEachModel(context, [input], async (opened) => {
    const { model } = await restoreStowed(opened)
    const tokenizer = createTokenizer(await chooseVocabulary(context, model, flags.vocab), {
      profile: flags.profile === 'reference' ? 'reference' : 'bert',
      maxLength: flags.maxLength,
      lowercase: flags.cased !== true,
    })
    for (const text of texts) {
      const encoding = tokenizer.encode(text)
      if (!context.json) {
        await context.console.print(describe(context, text, encoding, tokenizer))
        continue
      }
      const { ids, count, cut } = encoding
      const tokens = ids.slice(0, count).map((id) => tokenizer.token(id) ?? null)
      const profile = tokenizer.profile === 'reference' ? 'reference' : 'original'
      await context.console.json({ file: input, format: model.format, text, profile, ids, tokens, count, cut })
    }
    return 0
  })
}

/** The text, then its tokens with their ids below them, as many on a line as fit. */
function* describe({ console }: Context, text: string, encoding: Encoding, tokenizer: Tokenizer): Generator<string> {
  const { ids, count, cut } = encoding
  const { color } = console
  const remarks = [
    plural(count, 'token'),
    ...(ids.length > count ? [`${ids.length - count} of padding`] : []),
    ...(cut > 0 ? [color.yellow(`${cut} cut off`)] : []),
  ]
  yield `${color.bold(titleOf(text, console.width))}  ${remarks.join(', ')}`
  const cells = ids.slice(0, count).map((id): [string, string] => [escapeText(tokenizer.token(id) ?? '?'), String(id)])
  for (const line of linesThatFit(cells, console.width - 2)) {
    const columns = line.map(() => ({ title: '' }))
    const [tokens, numbers] = [line.map(([token]) => token), line.map(([, id]) => id)]
    yield* formatTable(columns, [tokens, numbers])
  }
}

function* linesThatFit(cells: readonly [string, string][], width: number): Generator<[string, string][]> {
  let line: [string, string][] = []
  let used = 0
  for (const cell of cells) {
    const wide = Math.max(cell[0].length, cell[1].length) + 2
    if (used + wide > width && line.length > 0) {
      yield line
      line = []
      used = 0
    }
    line.push(cell)
    used += wide
  }
  if (line.length > 0) yield line
}
