// Repairs files in which data and quantization are not where the records say.
import type { ByteSource } from '../../bytes/index.js'
import { collectingReport, type Finding, TareError } from '../../errors/index.js'
import type { ReadContext, Repair, WriteOptions } from '../../model/index.js'
import { codes } from './codes.js'
import { layout } from './layout.js'
import type { Placement } from './misplaced.js'
import { parseFile } from './parse.js'
import { toModel } from './read.js'
import { versionOption } from './structs.js'
import type { Tables } from './tables/tables.js'

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
    const repaired = describe(tables, placement)
    const model = toModel(source, parsed, quiet)
    const errors = findings.filter(({ severity }) => severity === 'error')
    if (errors.some(({ code }) => code !== codes['quant-misplaced'].code)) return undefined
    const extra = { ...options.extra, [versionOption]: 2 }
    return { layout: await layout(model, { ...options, extra }), repaired, lost: [] }
  } catch (error) {
    if (error instanceof TareError && findings.includes(error.finding)) return undefined
    throw error
  }
}

/** What was found elsewhere, with the names and places that the records have. */
function describe({ tensors, quants }: Tables, { offsets }: Placement): string[] {
  return tensors.flatMap((tensor) => {
    const offset = offsets.get(tensor)
    const isQuantized = quants.has(tensor)
    if (offset === undefined || (offset === tensor.data!.origin!.offset && !isQuantized)) return []
    const what = isQuantized ? 'data and quantization' : 'data'
    return [`${what} of ${tensor.name}: found at 0x${offset.toString(16)} and placed where the record says`]
  })
}
