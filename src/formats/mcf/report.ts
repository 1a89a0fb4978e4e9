// Some faults do not stop the reference's own reader: overlapping sections, a sort flag that lies, a name that occurs twice. tare opens
// such files as well, since nothing is ambiguous when tensors are taken by position, but verifying them fails.
import type { Code, Details } from '../../errors/index.js'
import type { ReadContext } from '../../model/index.js'

/** An error when verifying, a warning when only opening. */
export function reportToVerifier({ report }: ReadContext, code: Code, details: Details): void {
  report.report(report.strict ? { ...code, severity: 'warning' } : code, details)
}

/** An error; but with `lenient` only a warning when opening, for faults of one tensor among others that are fine. */
export function reportTensor({ report, lenient }: ReadContext, code: Code, details: Details): void {
  report.report(report.strict && lenient ? { ...code, severity: 'warning' } : code, details)
}
