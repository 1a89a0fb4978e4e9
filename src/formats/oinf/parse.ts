// Reads what the records say: the tables from one end to the other, then the values that belong to the index (metadata and quantization). Tensor data
// stay where they are.
import { type ByteSource, defaultWindow } from '../../bytes/index.js'
import { MovingWindow } from '../../bytes/moving-window.js'
import { collectingReport, type Finding } from '../../errors/index.js'
import type { MetaValue, QuantParams, ReadContext } from '../../model/index.js'
import { codes } from './codes.js'
import { noteEngineLimits } from './engine-limits.js'
import {
  checkZero,
  type FreeRanges,
  fetchRanges,
  findFreeRanges,
  newFreeRanges,
  pushFree,
  recordPadding,
} from './free-space.js'
import { type Header, readHeader } from './header.js'
import { readValue } from './metadata/values.js'
import { findMisplaced, type Placement } from './misplaced.js'
import { readQuant } from './quant.js'
import type { Range } from './records.js'
import { fileHeader } from './structs.js'
import { readTables, type Tables } from './tables/tables.js'

/** What the records say, with the small values decoded. */
export interface Parsed {
  readonly header: Header
  readonly tables: Tables
  readonly values: ReadonlyMap<string, MetaValue>
  /** By the positions of the tensors. */
  readonly quants: ReadonlyMap<number, QuantParams>
  /** Unclaimed bytes of the data section. */
  readonly free: FreeRanges
  /** Where data and quantization really are, in a file with the encoder's defect. */
  readonly placement: Placement | undefined
}

export async function parseFile(source: ByteSource, context: ReadContext): Promise<Parsed> {
  const header = await readHeader(source, context)
  checkBudget(header.indexEnd, context.limits.indexBytes, 'tables', fileHeader.offsetOf('offsetData'), context)
  const window = new MovingWindow(source, header.indexEnd, context.signal)
  await window.reach(0, Math.min(header.indexEnd, defaultWindow))
  const tables = await readTables(source, window, header, context)
  await checkIndexPadding(window, header, tables, context)

  const quantized = tables.tensors.quants
  const small: Range[] = [...tables.metadata, ...quantized.values()]
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
  const { quants, placement } = await readQuants(source, header, tables, payloads, context)
  const complete = refused + quantized.size - quants.size === 0
  const free = findFreeRanges(tables.blobs, header.indexEnd, header.end, complete, context)
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
async function checkIndexPadding(
  window: MovingWindow,
  header: Header,
  { ends }: Tables,
  context: ReadContext,
): Promise<void> {
  const free = newFreeRanges()
  let reached = fileHeader.size
  for (const name of ['sizevars', 'metadata', 'tensors'] as const) {
    const section = header.tables[name]
    if (section.count === 0) continue
    pushFree(free, reached, section.offset)
    reached = ends.get(name) ?? section.end
  }
  pushFree(free, reached, header.indexEnd)
  for (const { kind, offset, length } of free) {
    const end = offset + length
    for (let at = offset, isClean = true; at < end && isClean; at += defaultWindow) {
      const until = Math.min(at + defaultWindow, end)
      await window.reach(at, until - at)
      isClean = checkZero(window.from(at, until), kind, at, context)
    }
  }
  recordPadding(free, context)
}

async function readQuants(
  source: ByteSource,
  header: Header,
  tables: Tables,
  payloads: readonly Uint8Array[],
  context: ReadContext,
): Promise<Pick<Parsed, 'quants' | 'placement'>> {
  const { report, extents } = context
  const { tensors: table } = tables
  const readAll = (to: ReadContext['report'], map?: ReadContext['extents']): Map<number, QuantParams> => {
    const quants = new Map<number, QuantParams>()
    let i = 0
    for (const [position, { offset }] of table.quants) {
      const place = { offset, path: table.pathOf(position, 'quant') }
      const quant = readQuant(payloads[i++]!, table.tensors.at(position)!.shape, place, to, map)
      if (quant) quants.set(position, quant)
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
