// Reads what the records say: the tables in one go, then the values that belong to the index (metadata and quantization). Tensor data
// stay where they are.
import type { ByteSource } from '../../bytes/index.js'
import { collectingReport, type Finding } from '../../errors/index.js'
import type { MetaValue, QuantParams, ReadContext } from '../../model/index.js'
import { type Blob, checkZero, type FreeRange, fetchRanges, findFreeRanges, pushFree, recordPadding } from './blobs.js'
import { codes } from './codes.js'
import { noteEngineLimits } from './engine-limits.js'
import { type Header, readHeader } from './header.js'
import { findMisplaced, type Placement } from './misplaced.js'
import { readQuant } from './quant.js'
import type { Range, TensorRecord } from './records.js'
import { fileHeader } from './structs.js'
import { readTables, type Tables } from './tables.js'
import { readValue } from './values.js'

/** What the records say, with the small values decoded. */
export interface Parsed {
  readonly header: Header
  readonly tables: Tables
  readonly values: ReadonlyMap<string, MetaValue>
  readonly quants: ReadonlyMap<TensorRecord, QuantParams>
  /** Unclaimed bytes of the data section. */
  readonly free: readonly FreeRange[]
  /** Where data and quantization really are, in a file with the encoder's defect. */
  readonly placement: Placement | undefined
}

export async function parseFile(source: ByteSource, context: ReadContext): Promise<Parsed> {
  const header = await readHeader(source, context)
  checkBudget(header.indexEnd, context.limits.indexBytes, 'tables', fileHeader.offsetOf('offsetData'), context)
  const index = await source.read(0, header.indexEnd, { signal: context.signal })
  const tables = readTables(index, header, context)
  checkIndexPadding(index, header, tables, context)

  const quantized = tables.tensors.filter((record) => record.quant)
  const small: Range[] = [...tables.metadata, ...quantized.map((record) => record.quant!)]
  const total = small.reduce((sum, range) => sum + range.length, 0)
  // Values that overlap could take far more memory than the file has bytes.
  const budget = Math.min(context.limits.indexBytes, source.size)
  checkBudget(total, budget, 'metadata and quantization', header.tables.metadata.offset, context)
  const bytes = await fetchRanges(source, small, context.signal)

  const values = new Map<string, MetaValue>()
  let refused = tables.refused
  for (const [i, record] of tables.metadata.entries()) {
    const value = readValue(bytes[i]!, record, context)
    if (value) values.set(record.key, value)
    else refused++
  }
  const payloads = bytes.slice(tables.metadata.length)
  const { quants, placement } = await readQuants(source, header, tables, quantized, payloads, context)
  const complete = refused + quantized.length - quants.size === 0
  const free = findFreeRanges(listBlobs(tables), header.indexEnd, header.end, complete, context)
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
    pushFree(free, reached, section.offset)
    reached = ends.get(name) ?? section.end
  }
  pushFree(free, reached, header.indexEnd)
  for (const { kind, offset, length } of free) checkZero(index.subarray(offset, offset + length), kind, offset, context)
  recordPadding(free, context)
}

async function readQuants(
  source: ByteSource,
  header: Header,
  tables: Tables,
  records: readonly TensorRecord[],
  payloads: readonly Uint8Array[],
  context: ReadContext,
): Promise<Pick<Parsed, 'quants' | 'placement'>> {
  const { report, extents } = context
  const readAll = (to: ReadContext['report'], map?: ReadContext['extents']): Map<TensorRecord, QuantParams> => {
    const quants = new Map<TensorRecord, QuantParams>()
    for (const [i, record] of records.entries()) {
      const place = { offset: record.quant!.offset, path: `tensors[${record.index}].quant` }
      const quant = readQuant(payloads[i]!, record.shape, place, to, map)
      if (quant) quants.set(record, quant)
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
    'quantization after them: the encoder of version 2 writes them in that order but counts offsets in another. `tare repair` mends it'
  report.report(codes['quant-misplaced'], { offset: wrong.offset!, path: wrong.path!, message })
  return { quants: placement.quants, placement }
}

function listBlobs({ metadata, tensors }: Tables): Blob[] {
  const blobs: Blob[] = []
  // Written out: with a million records, spreading objects would take most of the time of opening.
  const add = ({ offset, length }: Range, kind: Blob['kind'], index: number): void => {
    if (length > 0) blobs.push({ offset, length, kind, index })
  }
  for (const record of metadata) add(record, 'metadata', record.index)
  for (const { index, data, quant } of tensors) {
    if (data) add(data, 'data', index)
    if (quant) add(quant, 'quant', index)
  }
  return blobs
}
