import {
  failWith,
  groupExtents,
  type MapRow,
  mapSource,
  openInput,
  openPartOf,
  TareError,
  usageCodes,
} from '../../../kit-node.js'
import type { Context } from '../../context.js'
import { forEachInput, inputOptions, openOptions } from '../../input/run-inputs.js'
import type { Status } from '../../status.js'
import type { MapOptions } from './index.js'
import { type MappedFile, printFile } from './text.js'

export default function map(context: Context, inputs: readonly string[], options: MapOptions): Promise<Status> {
  const { console } = context
  const { at, hex } = options
  return forEachInput(context, inputs, async (source, input) => {
    const result = await mapSource(source, openOptions(context))
    if (at !== undefined && at >= source.size)
      failWith(usageCodes.option, {
        file: input,
        message: `it has only ${source.size} bytes; ${at} is beyond its end`,
      })
    const files = result.files
      .filter(({ file }) => at === undefined || file === source.name)
      .map((file) => choose(file, options))
    const failed = result.findings.find((finding) => finding.severity === 'error')
    if (context.json) await console.json({ ...result, file: input, files })
    else {
      const reader = hex ? await openInput(input, inputOptions(context)) : undefined
      try {
        await console.beginBlock()
        for (const file of files) await printFile(console, file, at, reader && (await openPartOf(reader, file.file)))
      } finally {
        await reader?.close()
      }
      if (failed) throw new TareError(failed)
    }
    return failed ? 1 : 0
  })
}

function choose(file: MappedFile, { at, depth }: MapOptions): MappedFile {
  const holds = (row: MapRow): boolean => at === undefined || (row.offset <= at && at < row.offset + row.length)
  const extents = depth === undefined ? file.extents : groupExtents(file.extents, depth)
  return { ...file, extents: extents.filter(holds), overlaps: file.overlaps.filter(holds) }
}
