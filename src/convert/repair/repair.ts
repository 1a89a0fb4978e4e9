// Repairing asks the format first: it knows the defects that writers have left in the field, and what can be rebuilt. Where it has no
// answer, everything that is whole is saved into a new file.
import type { ByteSink, ByteSource } from '../../bytes/index.js'
import { collectingReport, type Finding, failWith, placeOf, TareError, writeCodes } from '../../errors/index.js'
import { type OpenOptions, recognise } from '../../formats/index.js'
import { fileLength, type Layout, type Lost, layoutSize, type Repair, type WriteOptions } from '../../model/index.js'
import { type WriteLayoutOptions, type WrittenFile, writeLayout } from '../../writing/write-layout.js'
import { describeLost, planSalvage } from './salvage.js'

export interface PlannedRepair extends Repair {
  readonly format: string
  /** What was wrong. */
  readonly findings: readonly Finding[]
  readonly size: number
  readonly files: readonly { readonly name: string; readonly size: number }[]
  /** Where the format has no repair of its own: what was saved, and what was not. */
  readonly salvage?: { readonly kept: number; readonly lost: readonly Lost[] }
}

/** What can be done about a damaged file. Throws `write/nothing-to-repair` when nothing is damaged, or nothing is whole. */
export async function planRepair(source: ByteSource, options: WriteOptions & OpenOptions): Promise<PlannedRepair> {
  const findings: Finding[] = []
  const report = collectingReport(source.name, findings)
  const { format, context } = await recognise(source, { ...options, report })
  const repair = await (await format.load()).repair?.(source, context, options)
  if (repair) return { ...repair, format: format.id, findings, ...filesOf(repair.layout) }
  return salvage(source, options)
}

async function salvage(source: ByteSource, options: WriteOptions & OpenOptions): Promise<PlannedRepair> {
  const { conversion, format, kept, lost, findings } = await planSalvage(source, options)
  const { layout } = conversion
  const repaired = [
    `the ${kept === 1 ? 'tensor that is whole is' : `${kept} tensors that are whole are`} in a new file`,
  ]
  return {
    ...{ layout, repaired, lost: lost.map(describeLost), format, findings },
    ...filesOf(layout),
    salvage: { kept, lost },
  }
}

function filesOf(layout: Layout): Pick<PlannedRepair, 'size' | 'files'> {
  const files = layout.files.map((file) => ({ name: file.name, size: fileLength(file) }))
  return { size: layoutSize(layout), files }
}

/** Writes what was rebuilt. It becomes visible only when it passes every check of its format. */
export function runRepair(
  { layout, format }: PlannedRepair,
  openSink: (name: string) => Promise<ByteSink>,
  options: WriteLayoutOptions = {},
): Promise<WrittenFile[]> {
  const beforeCommit = (written: ByteSource): Promise<void> => assertVerifies(written, format, options.signal)
  return writeLayout(layout, openSink, { beforeCommit, ...options })
}

/** Throws unless every check of the format holds for the output. Closes it. */
async function assertVerifies(written: ByteSource, target: string, signal?: AbortSignal): Promise<void> {
  const findings: Finding[] = []
  const report = collectingReport(written.name, findings)
  const { context, read } = await recognise(written, { from: target, signal, report })
  try {
    const { check } = await read()
    await check?.({ ...context, extra: {}, checked() {} })
  } catch (error) {
    if (!(error instanceof TareError) || !findings.includes(error.finding)) throw error
  } finally {
    await written.close()
  }
  const wrong = findings.find(({ severity }) => severity === 'error')
  if (!wrong) return
  const message = `what can be rebuilt would not pass its own checks, so nothing was written: ${wrong.message}`
  failWith(writeCodes['not-repaired'], { ...placeOf(wrong), message })
}
