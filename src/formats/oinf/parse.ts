// Reads what the records say: the tables from one end to the other, then the values that belong to the index (metadata and quantization).
// Tensor data stay where they are.
import type { ByteSource } from '../../bytes/index.js'
import { callerWord, collectingReport, type Finding } from '../../errors/index.js'
import type { MetaValue, QuantParams, ReadContext, Tensor } from '../../model/index.js'
import { codes } from './codes.js'
import { noteEngineLimits } from './engine-limits.js'
import { checkZero, type FreeRange, fetchRanges, findFreeSpace, recordPadding, splitFree } from './free-space.js'
import { type Header, readHeader } from './header.js'
import { readValue } from './metadata/values.js'
import { findMisplaced, type Placement } from './misplaced.js'
import { readQuant } from './quant.js'
import { fileHeader } from './structs.js'
import { pathOfValue, type ValueRange } from './tables/records.js'
import { readTables, type Tables, valuesIn } from './tables/tables.js'

/** What the records say, with the small values decoded. */
export interface Parsed {
  readonly header: Header
  readonly tables: Tables
  readonly values: ReadonlyMap<string, MetaValue>
  readonly quants: ReadonlyMap<Tensor, QuantParams>
  /** Unclaimed bytes of the data section. */
  readonly free: readonly FreeRange[]
  /** Where data and quantization really are, in a file with the encoder's defect. */
  readonly placement: Placement | undefined
}

export async function parseFile(source: ByteSource, context: ReadContext): Promise<Parsed> {
  const { limits, signal } = context
  const header = await readHeader(source, context)
  checkBudget(header.indexEnd, limits.indexBytes, 'tables', fileHeader.offsetOf('offsetData'), context)
  const index = await source.read(0, header.indexEnd, { signal })
  const tables = readTables(source, index, header, context)
  checkIndexPadding(index, header, tables, context)

  const { metadata } = tables
  const small = [...metadata.map(({ value }) => value), ...tables.quants.values()]
  const total = small.reduce((sum, { start, end }) => sum + end - start, 0)
  // Values that overlap could take far more memory than the file has bytes.
  const budget = Math.min(limits.indexBytes, source.size)
  checkBudget(total, budget, 'metadata and quantization', header.tables.metadata.offset, context)
  const bytes = await fetchRanges(source, small, signal)

  const values = new Map<string, MetaValue>()
  let refused = tables.refused
  for (const record of metadata) {
    const value = readValue(bytes.get(record.value)!, record, context)
    if (value) values.set(record.key, value)
    else refused++
  }
  const { quants, placement } = await readQuants(source, header, tables, bytes, context)
  const isComplete = refused + tables.quants.size - quants.size === 0
  const data = { start: header.indexEnd, end: header.end }
  const free = findFreeSpace(valuesIn(tables), data, isComplete, context)
  recordPadding(free, context)
  noteEngineLimits(header, tables, values, context.report)
  return { header, tables, values, quants, free, placement }
}

function checkBudget(wanted: number, limit: number, what: string, offset: number, { report }: ReadContext): void {
  if (wanted <= limit) return
  const message = `${what} take ${wanted} bytes, at most ${limit} are allowed`
  report.fail(codes['index-limit'], { offset, path: 'header', message })
}

/** After the header and after each table there may be up to 7 bytes of padding; more is a gap. */
function checkIndexPadding(index: Uint8Array, header: Header, { ends }: Tables, context: ReadContext): void {
  const free: FreeRange[] = []
  let reached = fileHeader.size
  for (const name of ['sizevars', 'metadata', 'tensors'] as const) {
    const section = header.tables[name]
    if (section.count === 0) continue
    for (const each of splitFree({ start: reached, end: section.offset })) free.push(each)
    reached = ends.get(name) ?? section.end
  }
  for (const each of splitFree({ start: reached, end: header.indexEnd })) free.push(each)
  for (const { kind, start, end } of free) checkZero(index.subarray(start, end), kind, start, context)
  recordPadding(free, context)
}

async function readQuants(
  source: ByteSource,
  header: Header,
  tables: Tables,
  bytes: ReadonlyMap<ValueRange, Uint8Array>,
  context: ReadContext,
): Promise<Pick<Parsed, 'quants' | 'placement'>> {
  const { report, extents } = context
  const readAll = (to: ReadContext['report'], map?: ReadContext['extents']): Map<Tensor, QuantParams> => {
    const quants = new Map<Tensor, QuantParams>()
    for (const [tensor, range] of tables.quants) {
      const place = { offset: range.start, path: pathOfValue(range) }
      const quant = readQuant(bytes.get(range)!, tensor.shape, place, to, map)
      if (quant) quants.set(tensor, quant)
    }
    return quants
  }
  const findings: Finding[] = []
  const quants = readAll(collectingReport(report.file, findings), extents)
  if (findings.length === 0) return { quants, placement: undefined }
  const wrong = findings.find(({ severity }) => severity === 'error')
  const placement = wrong && (await findMisplaced(source, header, tables, context.signal))
  if (!placement) return { quants: readAll(report), placement: undefined }
  const message =
    `data and quantization are not where the records say (here: ${wrong.message}). Everything fits when all data come first and all ` +
    'quantization after them: the encoder of version 2 writes them in that order but counts offsets in another. ' +
    `${callerWord('`tare repair`', 'repair()')} fixes it`
  report.report(codes['quant-misplaced'], { offset: wrong.offset!, path: wrong.path!, message })
  return { quants: placement.quants, placement }
}
