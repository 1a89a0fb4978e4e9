import { basename, dirname, join } from 'node:path'
import { planRepair, runRepair } from '../../../node.js'
import type { Context } from '../../context.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatSize } from '../../console/format-values.js'
import { assertNotInput, markErrorsOf, openGuarded } from '../../output/guarded-output.js'
import { checkOutputName } from '../../output/output-name.js'
import { forEachInput, openOptions } from '../../input/run-inputs.js'
import { type Status, UsageError } from '../../status.js'

interface RepairFlags {
  readonly output?: string
  readonly overwrite?: boolean
}

export default function repair(context: Context, inputs: readonly string[], flags: RepairFlags): Promise<Status> {
  const { output, overwrite } = flags
  if (output === undefined || output === '-') throw new UsageError('say where to with -o FILE')
  const { console } = context
  return forEachInput(context, inputs, async (source, input) => {
    const planned = await planRepair(source, { ...openOptions(context), name: basename(output) })
    const pathOf = (name: string): string => join(dirname(output), name)
    checkOutputName(output, planned.format)
    const outputs = planned.files.map(({ name }) => pathOf(name))
    for (const path of outputs) await assertNotInput(path, source)
    await markErrorsOf(
      (file) => outputs.includes(file),
      () =>
        runRepair(planned, (name) => openGuarded(pathOf(name), source, { overwrite }), {
          signal: context.signal,
          onProgress: console.progress.update,
        }),
    )
    const { format, repaired, lost, size, salvage } = planned
    if (context.json) {
      await console.json({
        file: input,
        format,
        repaired,
        lost,
        ...(salvage && { salvage }),
        size,
        files: outputs,
      })
    } else {
      for (const what of repaired) console.remark(`  repaired  ${escapeText(what)}`)
      for (const what of lost) console.remark(`  lost      ${escapeText(what)}`)
      console.remark(`${escapeName(output)}: ${format}, ${formatSize(size)}`)
    }
    return 0
  })
}
