import {
  type ByteSource,
  type HistogramBin,
  type NoStats,
  shownDims,
  statsOfTensors,
  type Tensor,
  type TensorList,
  type TensorStats,
} from '../../../node.js'
import { chooseTensors } from '../../input/tensors.js'
import type { Context } from '../../context.js'
import { damageJson, warnOfDamage } from '../../input/damage.js'
import { escapeName } from '../../console/escape.js'
import { formatInteger, formatShape, formatValue } from '../../console/format-values.js'
import { assertUnchanged } from '../../output/guarded-output.js'
import { poolOf } from '../../pool-of.js'
import { forEachModel } from '../../input/run-inputs.js'
import type { Status } from '../../status.js'
import { type Column, formatTable } from '../../console/table.js'

interface StatsFlags {
  readonly tensors?: readonly string[]
  readonly bins?: number
  readonly exact?: boolean
}

interface Measured {
  readonly tensor: Tensor
  readonly stats: TensorStats | NoStats
}

export default function stats(context: Context, inputs: readonly string[], flags: StatsFlags): Promise<Status> {
  const { console } = context
  return forEachModel(context, inputs, async (model, input, source) => {
    const chosen = chooseTensors(model, flags.tensors, console)
    const damage = await warnOfDamage(context, model, chosen)
    const measured = await measureTensors(context, source, chosen, flags)
    if (context.json) {
      const tensors = measured.map(({ tensor, stats: numbers }) => ({
        name: tensor.name,
        dtype: tensor.dtype.id,
        shape: shownDims(tensor),
        ...numbers,
      }))
      await console.json({ file: input, format: model.format, tensors, ...damageJson(damage) })
    } else {
      await console.print([console.color.bold(escapeName(input))])
      await console.print(formatTable(columns, measured.map(rowOf), { head: console.color.underline }))
    }
    return damage.length > 0 ? 1 : 0
  })
}

/** The statistics of all tensors, with one progress bar over all of them. */
export async function measureTensors(
  context: Context,
  source: ByteSource,
  tensors: TensorList,
  options: { bins?: number; exact?: boolean },
): Promise<Measured[]> {
  const { console, signal } = context
  const threads = { signal, pool: poolOf(context), onProgress: console.progress.update }
  const measured: Measured[] = []
  for await (const stats of statsOfTensors(tensors, { ...options, ...threads })) {
    measured.push({ tensor: tensors.at(measured.length)!, stats })
  }
  await assertUnchanged([source])
  return measured
}

const right = (title: string): Column => ({ title, align: 'right' })
const columns: readonly Column[] = [
  { title: 'name' },
  { title: 'type' },
  { title: 'shape' },
  ...['min', 'max', 'mean', 'median', 'std', 'zero', 'nan', 'inf'].map(right),
  { title: 'histogram' },
]

function rowOf({ tensor, stats: numbers }: Measured): string[] {
  const head = [escapeName(tensor.name), (tensor.encoding ?? tensor.dtype).id, formatShape(shownDims(tensor))]
  if (numbers.reason !== undefined) return [...head, ...Array<string>(8).fill('-'), numbers.reason]
  const { min, max, mean, median, std, zero, nan, posInf, negInf, histogram } = numbers
  return [
    ...head,
    ...[min, max, mean, median, std].map(formatValue),
    ...[zero, nan, posInf + negInf].map(formatInteger),
    sparkline(histogram),
  ]
}

const bars = '▁▂▃▄▅▆▇█'

/** One character per bin; an empty bin is a space, and anything above nothing shows. */
export function sparkline(histogram: readonly HistogramBin[]): string {
  const most = histogram.reduce((largest, { count }) => Math.max(largest, count), 0)
  const bar = (count: number): string =>
    count === 0 ? ' ' : bars[Math.min(bars.length - 1, Math.floor((count / most) * bars.length))]!
  return histogram.map(({ count }) => bar(count)).join('')
}
