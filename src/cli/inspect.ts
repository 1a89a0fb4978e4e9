import { inspectHead, inspectTensor, type Model, selector, type Tensor } from '../node.js'
import type { Context } from './context.js'
import { describeModel, type InspectFlags, type Row } from './inspect-text.js'
import { JsonList } from './json.js'
import { forEachModel } from './run-inputs.js'
import { measureTensors } from './stats.js'
import type { Status } from './status.js'

export default function inspect(context: Context, inputs: readonly string[], flags: InspectFlags): Promise<Status> {
  const { console } = context
  return forEachModel(context, inputs, async (model, input) => {
    const { parts, ...head } = { ...inspectHead(model), file: input }
    const chosen = flags.metadata ? [] : chooseTensors(model, flags)
    const measured = flags.stats ? await measureTensors(context, chosen, {}) : undefined
    const rowOf = (tensor: Tensor, i: number): Row => {
      const row = inspectTensor(tensor, model.files[0]?.name ?? '')
      return measured ? { ...row, stats: measured[i]!.stats } : row
    }
    const shown = chosen.slice(0, context.json ? flags.limit : undefined)
    if (!context.json) await console.print(describeModel(model, { ...head, parts }, shown, rowOf, flags, console))
    else await console.json(flags.metadata ? head : { ...head, parts, tensors: new JsonList(rows(shown, rowOf)) })
    return 0
  })
}

/** Rows are made while they are printed: a model can have a million tensors. */
function* rows(tensors: readonly Tensor[], rowOf: (tensor: Tensor, i: number) => Row): Generator<Row> {
  for (const [i, tensor] of tensors.entries()) yield rowOf(tensor, i)
}

function chooseTensors({ tensors, files }: Model, { tensors: patterns, sort }: InspectFlags): readonly Tensor[] {
  const isWanted = selector(patterns)
  const chosen = patterns ? tensors.filter(({ name }) => isWanted(name)) : tensors
  if (sort === 'size') return chosen.toSorted((a, b) => (b.data?.byteLength ?? 0) - (a.data?.byteLength ?? 0))
  if (sort === 'name') return chosen.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  return sort === 'offset' ? chosen.toSorted(byOffset(files[0]?.name)) : chosen
}

/** What is in the file that was opened comes first. */
function byOffset(main: string | undefined): (a: Tensor, b: Tensor) => number {
  const fileOf = ({ data }: Tensor): string => {
    const name = data?.origin?.source.name
    return name === undefined || name === main ? '' : name
  }
  return (a, b) =>
    fileOf(a).localeCompare(fileOf(b), 'en') || (a.data?.origin?.offset ?? 0) - (b.data?.origin?.offset ?? 0)
}
