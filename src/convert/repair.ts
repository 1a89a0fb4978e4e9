// Repairing asks the format: it knows the defects that writers have left in the field, and what can be rebuilt.
import type { ByteSource } from '../bytes/index.js'
import { collectingReport, type Finding, failWith, writeCodes } from '../errors/index.js'
import { type OpenOptions, recognise } from '../formats/index.js'
import { fileLength, layoutSize, type Repair, type WriteOptions } from '../model/index.js'

export interface PlannedRepair extends Repair {
  readonly format: string
  /** What was wrong. */
  readonly findings: readonly Finding[]
  readonly size: number
  readonly files: readonly { readonly name: string; readonly size: number }[]
}

/** What can be done about a damaged file. Throws `write/nothing-to-repair` when the format has no answer. */
export async function planRepair(source: ByteSource, options: WriteOptions & OpenOptions): Promise<PlannedRepair> {
  const findings: Finding[] = []
  const report = collectingReport(source.name, findings)
  const { format, context } = await recognise(source, { ...options, report })
  const repair = await format.repair?.(source, context, options)
  if (!repair) {
    const message = format.repair
      ? 'nothing here is damaged in a way that can be mended'
      : `there is no repair for ${format.title} files`
    return failWith(writeCodes['nothing-to-repair'], { file: source.name, message })
  }
  const files = repair.layout.files.map((file) => ({ name: file.name, size: fileLength(file) }))
  return { ...repair, format: format.id, findings, size: layoutSize(repair.layout), files }
}
