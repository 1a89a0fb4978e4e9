import { type InspectedTensor, type Inspection, inspectModel, type Model, selector } from '../node.js'
import type { Context } from './context.js'
import { describeModel, type InspectFlags, type Row } from './inspect-text.js'
import { forEachModel } from './run-inputs.js'
import { measureTensors } from './stats.js'
import type { Status } from './status.js'

export default function inspect(context: Context, inputs: readonly string[], flags: InspectFlags): Promise<Status> {
  const { console } = context
  return forEachModel(context, inputs, async (model, input) => {
    const inspection = { ...inspectModel(model), file: input }
    const rows = await chooseRows(context, model, inspection, flags)
    if (context.json) await console.json(asJson(inspection, rows, flags))
    else await console.print(describeModel(model, inspection, rows, flags, console))
    return 0
  })
}

async function chooseRows(
  context: Context,
  model: Model,
  { tensors }: Inspection,
  flags: InspectFlags,
): Promise<Row[]> {
  if (flags.metadata) return []
  const isWanted = selector(flags.tensors)
  const chosen = tensors
    .map((row, index) => ({ row, tensor: model.tensors[index]! }))
    .filter(({ row }) => isWanted(row.name))
  if (flags.sort) chosen.sort(comparators[flags.sort])
  if (!flags.stats) return chosen.map(({ row }) => row)
  const shown = chosen.map(({ tensor }) => tensor)
  const measured = await measureTensors(context, shown, {})
  return chosen.map(({ row }, index) => ({ ...row, stats: measured[index]!.stats }))
}

type Pair = { readonly row: InspectedTensor }

const comparators: Readonly<Record<'size' | 'name' | 'offset', (a: Pair, b: Pair) => number>> = {
  size: (a, b) => (b.row.bytes ?? 0) - (a.row.bytes ?? 0),
  name: (a, b) => (a.row.name < b.row.name ? -1 : a.row.name > b.row.name ? 1 : 0),
  offset: (a, b) =>
    (a.row.file ?? '').localeCompare(b.row.file ?? '', 'en') || (a.row.offset ?? 0) - (b.row.offset ?? 0),
}

function asJson(inspection: Inspection, rows: readonly Row[], flags: InspectFlags): object {
  const { tensors: _tensors, parts, ...head } = inspection
  if (flags.metadata) return head
  return { ...head, parts, tensors: flags.limit === undefined ? rows : rows.slice(0, flags.limit) }
}
