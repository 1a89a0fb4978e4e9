import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { openSpool, pathIn, planApply, writeLayout } from '../../../kit-node.js'
import { escapeName } from '../../console/escape.js'
import { formatSize, plural } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import { checkStdin, forEachModel } from '../../input/run-inputs.js'
import {
  assertNotInput,
  checkOutputName,
  markErrorsOf,
  openGuarded,
  requireFile,
  writingTo,
} from '../../output/output.js'
import { type Status, UsageError } from '../../status.js'
import type { ApplyVerbOptions } from './index.js'

export default async function apply(
  context: Context,
  inputs: readonly string[],
  options: ApplyVerbOptions,
): Promise<Status> {
  const [base, delta, ...more] = inputs
  if (base === undefined || delta === undefined || more.length > 0)
    throw new UsageError('apply takes a base and a delta')
  checkStdin(inputs)
  const output = requireFile(options.output)
  const isFolder = /[/\\]$/.test(output) || ((await stat(output).catch(() => undefined))?.isDirectory() ?? false)
  const { console, signal, pool } = context
  return forEachModel(context, [base], (from, _, baseSource) =>
    forEachModel(context, [delta], async (change, _, deltaSource) => {
      const spool = await openSpool()
      try {
        const planned = await planApply(from, change, spool, { signal })
        const { format, files, changed, version } = planned
        const sources = [baseSource, deltaSource]
        if (files.length > 1 && !isFolder)
          throw new UsageError(`the new model has ${files.length} files; name a directory, with a slash at its end`)
        if (!isFolder) checkOutputName(output, format)
        const [main, ...others] = planned.layout.files
        const layout = isFolder ? planned.layout : { files: [{ ...main!, name: basename(output) }, ...others] }
        const directory = isFolder ? output : dirname(output)
        const outputs = layout.files.map(({ name }) => pathIn(directory, name))
        for (const path of outputs) await assertNotInput(path, [...from.files, ...change.files])
        const open = (name: string) =>
          openGuarded(pathIn(directory, name), sources, { overwrite: options.overwrite, signal })
        const settings = {
          ...{ signal, pool, digests: ['blake3'] as const, onWritten: planned.check },
          onProgress: console.progress.update,
        }
        const written = await markErrorsOf(
          (file) => outputs.includes(file),
          () => writingTo(context, outputs, () => writeLayout(layout, open, settings)),
        )
        const size = written.reduce((sum, file) => sum + file.size, 0)
        if (context.json)
          await console.json({
            file: base,
            format,
            delta,
            changed,
            ...(version !== undefined && { version }),
            size,
            files: outputs,
          })
        else
          console.remark(
            `${escapeName(outputs[0]!)}: ${format}, ${formatSize(size)}; ${plural(changed, 'tensor')} from the delta, all digests match`,
          )
        return 0
      } finally {
        await spool.close()
      }
    }),
  )
}
