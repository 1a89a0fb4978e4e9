import { shownDims, unpackModel } from '../../../kit-node.js'
import type { Context } from '../../context.js'
import { damageJson, warnOfDamage } from '../../input/damage.js'
import { measureTensors } from '../../input/measure-tensors.js'
import { forEachModel } from '../../input/run-inputs.js'
import { chooseTensors } from '../../input/tensors.js'
import { withWorkers } from '../../input/with-workers.js'
import type { Status } from '../../status.js'
import type { StatsOptions } from './index.js'
import { describeStats } from './text.js'

export default function stats(context: Context, inputs: readonly string[], options: StatsOptions): Promise<Status> {
  return withWorkers(context, options.workers, (own) => statsHere(own, inputs, options))
}

function statsHere(context: Context, inputs: readonly string[], options: StatsOptions): Promise<Status> {
  const { console } = context
  return forEachModel(context, inputs, async (stored, input, source) => {
    const model = await unpackModel(stored, undefined, context.signal)
    const chosen = chooseTensors(model, options.tensors, console)
    // What a packed weight is made of has other names.
    const damage = await warnOfDamage(context, stored, model === stored ? chosen : stored.tensors)
    const measured = await measureTensors(context, source, chosen, options)
    if (context.json) {
      const tensors = measured.map(({ tensor, stats: numbers }) => ({
        name: tensor.name,
        dtype: tensor.dtype.id,
        shape: shownDims(tensor),
        ...numbers,
      }))
      await console.json({ file: input, format: model.format, tensors, ...damageJson(damage) })
    } else {
      await console.beginBlock()
      await console.print(describeStats(input, measured, console))
    }
    return damage.length > 0 ? 1 : 0
  })
}
