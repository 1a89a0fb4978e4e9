// How like texts are, as a table for few of them and as the nearest one for many.
import { cosineSimilarity } from '../../../node.js'
import type { Console } from '../../console/console.js'
import { type Column, formatTable } from '../../console/table.js'
import { titleOf } from '../../input/texts.js'

interface Placed {
  readonly text: string
  readonly vector: Float32Array
}

/** More columns than this are no longer a table that people read. */
const widestTable = 10

/** The similarity of one text to each of all texts, itself included. */
export const similarityRow = ({ vector }: Placed, all: readonly Placed[]): number[] =>
  all.map((other) => Number(cosineSimilarity(vector, other.vector).toFixed(7)))

export function describeSimilarities(
  all: readonly Placed[],
  console: Pick<Console, 'width' | 'color'>,
): Generator<string> {
  return all.length <= widestTable ? asTable(all, console) : asNearest(all, console)
}

function* asTable(all: readonly Placed[], { width, color }: Pick<Console, 'width' | 'color'>): Generator<string> {
  const columns: Column[] = [
    { title: '', align: 'right' },
    ...all.map((_, i): Column => ({ title: String(i + 1), align: 'right' })),
    { title: 'text' },
  ]
  const rows = all.map((each, i) => [
    String(i + 1),
    ...similarityRow(each, all).map((value) => value.toFixed(4)),
    titleOf(each.text, width),
  ])
  yield* formatTable(columns, rows, { head: color.underline })
}

function* asNearest(all: readonly Placed[], { width, color }: Pick<Console, 'width' | 'color'>): Generator<string> {
  const columns: Column[] = [{ title: 'text' }, { title: 'similarity', align: 'right' }, { title: 'nearest' }]
  const rows = all.map((each, i) => {
    let best = -1
    let highest = Number.NEGATIVE_INFINITY
    for (const [j, other] of all.entries()) {
      const value = i === j ? Number.NEGATIVE_INFINITY : cosineSimilarity(each.vector, other.vector)
      if (value > highest) [best, highest] = [j, value]
    }
    return [titleOf(each.text, width), highest.toFixed(4), titleOf(all[best]!.text, width)]
  })
  yield* formatTable(columns, rows, { head: color.underline })
}
