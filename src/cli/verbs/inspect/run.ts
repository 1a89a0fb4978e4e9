import { inspectHead, inspectTensor, type Model, type Tensor } from '../../../kit-node.js'
import { JsonList } from '../../console/json.js'
import type { Context } from '../../context.js'
import { damageJson, warnOfDamage } from '../../input/damage.js'
import { measureTensors } from '../../input/measure-tensors.js'
import { forEachModel } from '../../input/run-inputs.js'
import { chooseTensors, type Tensors } from '../../input/tensors.js'
import type { Status } from '../../status.js'
import type { InspectOptions } from './index.js'
import { describeModel, type Row } from './text.js'

export default function inspect(context: Context, inputs: readonly string[], options: InspectOptions): Promise<Status> {
  const { console } = context
  return forEachModel(context, inputs, async (model, input, source) => {
    const { parts, ...head } = { ...inspectHead(model), file: input }
    const chosen = options.metadata ? [] : sorted(chooseTensors(model, options.tensors, console), model, options)
    const damage = options.stats ? await warnOfDamage(context, model, chosen) : []
    const measured = options.stats ? await measureTensors(context, source, chosen, {}) : undefined
    const rowOf = (tensor: Tensor, i: number): Row => {
      const row = inspectTensor(tensor, model.files[0]?.name ?? '')
      return measured ? { ...row, stats: measured[i]!.stats } : row
    }
    if (context.json) {
      const count = Math.min(chosen.length, options.limit ?? chosen.length)
      const tensors = new JsonList(count, (i) => rowOf(chosen.at(i)!, i))
      await console.json(options.metadata ? head : { ...head, parts, tensors, ...damageJson(damage) })
    } else await console.print(describeModel(model, { ...head, parts }, chosen, rowOf, options, console))
    return damage.length > 0 ? 1 : 0
  })
}

function sorted(chosen: Tensors, { files }: Model, { sort }: InspectOptions): Tensors {
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
