// Repairs files of both layouts. What can be told from the rest of the file is put right: fields that repeat a length or a hash, a footer
// that was cut off, checksums. Where a checksum of the file still matches afterwards, that proves the file to be what was written. Where
// none does, checksums are computed over the bytes as they are, and the report says that nothing vouches for these bytes any more.
import type { ByteSource } from '../../../bytes/index.js'
import { collectingReport, type Finding, TareError } from '../../../errors/index.js'
import type { ReadContext, Repair, WriteOptions } from '../../../model/index.js'
import { checkSectioned } from '../check.js'
import { findLayout } from '../read.js'
import { readSectioned } from '../sectioned/read.js'
import { bare, type Damaged } from './damaged.js'
import { patchSectioned } from './fields.js'
import { repairStream } from './stream.js'
import { rewriteSectioned } from './tensors.js'

/** Undefined when nothing is wrong, or something that cannot be repaired. */
export async function repair(
  source: ByteSource,
  context: ReadContext,
  options: WriteOptions,
): Promise<Repair | undefined> {
  const findings: Finding[] = []
  const quiet: ReadContext = { ...context, report: collectingReport(source.name, findings) }
  try {
    const found = await findLayout(source, quiet)
    if (found.layout !== 'sectioned') return repairStream(found.walk, source, options)
    const file = await readSectioned(source, quiet)
    await checkSectioned(file, { ...quiet, extra: {}, checked() {} })
    const errors = new Set(findings.filter(({ severity }) => severity === 'error').map(({ code }) => bare(code)))
    if (errors.size === 0) return undefined
    const damaged: Damaged = { source, file, findings, errors, context: quiet }
    return (await patchSectioned(damaged, options)) ?? (await rewriteSectioned(damaged, options))
  } catch (error) {
    if (error instanceof TareError && findings.includes(error.finding)) return undefined
    throw error
  }
}
