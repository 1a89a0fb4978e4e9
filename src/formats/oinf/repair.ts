// Mends files in which data and quantization are not where the records say.
import type { ByteSource } from '../../bytes/index.js'
import { collectingReport, type Finding, TareError } from '../../errors/index.js'
import type { ReadContext, Repair, WriteOptions } from '../../model/index.js'
import { codes } from './codes.js'
import { layout } from './layout.js'
import { parseFile } from './parse.js'
import { toModel } from './read.js'
import { versionOption } from './structs.js'

/** Undefined when the file is not damaged in this way, or in other ways too. */
export async function repair(
  source: ByteSource,
  context: ReadContext,
  options: WriteOptions,
): Promise<Repair | undefined> {
  const findings: Finding[] = []
  const quiet = { ...context, report: collectingReport(source.name, findings) }
  try {
    const parsed = await parseFile(source, quiet)
    const { placement, tables } = parsed
    if (!placement) return undefined
    const model = toModel(source, parsed, quiet)
    const errors = findings.filter(({ severity }) => severity === 'error')
    if (errors.some(({ code }) => code !== codes['quant-misplaced'].code)) return undefined
    const mended = tables.tensors.flatMap((record) => {
      const place = placement.data.get(record)
      if (!place || (place.offset === record.data!.offset && !record.quant)) return []
      const what = record.quant ? 'data and quantization' : 'data'
      return [`${what} of ${record.name}: found at 0x${place.offset.toString(16)} and placed where the record says`]
    })
    const extra = { ...options.extra, [versionOption]: 2 }
    return { layout: await layout(model, { ...options, extra }), mended, lost: [] }
  } catch (error) {
    if (error instanceof TareError && findings.includes(error.finding)) return undefined
    throw error
  }
}
