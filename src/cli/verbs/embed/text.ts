import { cosineSimilarity, type Embedding } from '../../../kit-node.js'
import type { Console } from '../../console/console.js'
import { plural } from '../../console/format-values.js'
import { formatTable, rightColumn } from '../../console/table.js'
import { titleOf } from '../../input/texts.js'

export interface Embedded extends Embedding {
  readonly text: string
}

const maxValues = 6

/** One line per text. The whole vector is for programs, which ask for JSON. */
export function describeEmbeddings(
  batch: readonly Embedded[],
  { width, color }: Console,
  isFirst: boolean,
): Generator<string> {
  const rows = batch.map(({ text, tokens, vector }) => [
    titleOf(text, width),
    String(tokens),
    `${Array.from(vector.subarray(0, maxValues), (value) => value.toFixed(4).padStart(7)).join(' ')}${vector.length > maxValues ? ' …' : ''}`,
  ])
  const columns = [
    { title: 'text' },
    rightColumn('tokens'),
    { title: `vector of ${plural(batch[0]?.vector.length ?? 0, 'value')}`, paint: color.dim },
  ]
  return formatTable(columns, rows, isFirst ? { head: color.underline } : {})
}

/** More columns than this are no longer a table that people read. */
const maxTableWidth = 10

/** How similar texts are: as a table for few of them, as the nearest one for many. */
export const describeSimilarities = (all: readonly Embedded[], console: Console): Generator<string> =>
  all.length <= maxTableWidth ? asTable(all, console) : asNearest(all, console)

/** The similarity of one text to each of all texts, itself included. */
export const similarityRow = ({ vector }: Embedded, all: readonly Embedded[]): number[] =>
  all.map((other) => Number(cosineSimilarity(vector, other.vector).toFixed(7)))

function asTable(all: readonly Embedded[], { width, color }: Console): Generator<string> {
  const columns = [rightColumn(''), ...all.map((_, i) => rightColumn(String(i + 1))), { title: 'text' }]
  const rows = all.map((each, i) => [
    String(i + 1),
    ...similarityRow(each, all).map((value) => value.toFixed(4)),
    titleOf(each.text, width),
  ])
  return formatTable(columns, rows, { head: color.underline })
}

function asNearest(all: readonly Embedded[], { width, color }: Console): Generator<string> {
  const columns = [{ title: 'text' }, rightColumn('similarity'), { title: 'nearest' }]
  const rows = all.map((each, i) => {
    let best = -1
    let highest = Number.NEGATIVE_INFINITY
    for (const [j, other] of all.entries()) {
      const value = i === j ? Number.NEGATIVE_INFINITY : cosineSimilarity(each.vector, other.vector)
      if (value > highest) [best, highest] = [j, value]
    }
    return [titleOf(each.text, width), highest.toFixed(4), titleOf(all[best]!.text, width)]
  })
  return formatTable(columns, rows, { head: color.underline })
}
