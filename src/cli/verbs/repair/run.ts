import { basename, dirname } from 'node:path'
import { pathIn, planRepair, runRepair } from '../../../kit-node.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatSize } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import { forEachInput, openOptions } from '../../input/run-inputs.js'
import {
  assertNotInput,
  checkOutputName,
  markErrorsOf,
  openGuarded,
  requireFile,
  writingTo,
} from '../../output/output.js'
import type { Status } from '../../status.js'
import type { RepairOptions } from './index.js'

export default async function repair(
  context: Context,
  inputs: readonly string[],
  { output: given, overwrite }: RepairOptions,
): Promise<Status> {
  const { console, signal } = context
  const output = requireFile(given)
  const pathOf = (name: string): string => pathIn(dirname(output), name)
  return forEachInput(context, inputs, async (source, input) => {
    const planned = await planRepair(source, { ...openOptions(context), name: basename(output) })
    checkOutputName(output, planned.format)
    const outputs = planned.files.map(({ name }) => pathOf(name))
    for (const path of outputs) await assertNotInput(path, [source])
    const write = () =>
      runRepair(planned, (name) => openGuarded(pathOf(name), [source], { overwrite, signal }), {
        signal,
        onProgress: console.progress.update,
      })
    await markErrorsOf(
      (file) => outputs.includes(file),
      () => writingTo(context, outputs, write),
    )
    const { format, repaired, lost, size, salvage } = planned
    if (context.json) {
      await console.json({ file: input, format, repaired, lost, ...(salvage && { salvage }), size, files: outputs })
    } else {
      for (const what of repaired) console.remark(`  repaired  ${escapeText(what)}`)
      for (const what of lost) console.remark(`  lost      ${escapeText(what)}`)
      console.remark(`${escapeName(output)}: ${format}, ${formatSize(size)}`)
    }
    return 0
  })
}
