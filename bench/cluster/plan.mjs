// Plans a conversion of a virtual model as a worker does it.
import { planConversion } from '../../dist/convert/plan.js'
import { digestOfLayout } from '../../dist/jobs/layout-digest.js'
import { tasksOf } from '../../dist/jobs/tasks.js'
import { openModel } from '../../dist/kit-node.js'
import { virtualMixture } from './model.mjs'

/** What is asked for. The input is bf16 in safetensors, the output GGUF. */
export const conversions = {
  copy: {},
  'cast to f16': { cast: 'f16' },
  'quantize to q4_k': { quantize: { method: 'q4_k' } },
}

/** Processor time: planning waits for nothing, and other programs on the machine should not count. */
function cpuNow() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** The plan and its tasks, with the seconds that opening the input and all of it took. */
export async function planned(shape, options, onRead) {
  const source = virtualMixture(shape, onRead)
  const began = cpuNow()
  const model = await openModel(source)
  const opened = cpuNow()
  const how = { name: 'out.gguf', deferChecks: true, resolved: { ranges: new Map() }, ...options }
  const conversion = await planConversion(model, 'gguf', how)
  await digestOfLayout(conversion.layout)
  const tasks = tasksOf(conversion, { partSize: 64 * 2 ** 20, isStored: false })
  const open = opened - began
  return { conversion, tasks, inputSize: source.size, open, plan: cpuNow() - began }
}
