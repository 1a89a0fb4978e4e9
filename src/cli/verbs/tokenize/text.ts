import type { Encoding } from '../../../kit-node.js'
import type { Console } from '../../console/console.js'
import { escapeText } from '../../console/escape.js'
import { plural } from '../../console/format-values.js'
import { formatTable } from '../../console/table.js'
import { titleOf } from '../../input/texts.js'

/** The text, then its tokens with their ids below them, as many on a line as fit. */
export function* describeTokens(
  text: string,
  { ids, count, cut }: Encoding,
  tokenizer: { token(id: number): string | undefined },
  { color, width }: Console,
): Generator<string> {
  const remarks = [
    plural(count, 'token'),
    ...(ids.length > count ? [`${ids.length - count} of padding`] : []),
    ...(cut > 0 ? [color.yellow(`${cut} cut off`)] : []),
  ]
  yield `${color.bold(titleOf(text, width))}  ${remarks.join(', ')}`
  const cells = ids.slice(0, count).map((id): [string, string] => [escapeText(tokenizer.token(id) ?? '?'), String(id)])
  for (const line of linesThatFit(cells, width - 2)) {
    const columns = line.map(() => ({ title: '' }))
    const [tokens, numbers] = [line.map(([token]) => token), line.map(([, id]) => id)]
    yield* formatTable(columns, [tokens, numbers])
  }
}

/** The text of some ids, with what a terminal would act on escaped. */
export function* describeIds(text: string): Generator<string> {
  for (const line of text.split('\n')) yield escapeText(line)
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
