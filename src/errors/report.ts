// One parser serves both opening and verifying. It calls `report` for problems it can continue after and `fail` where it cannot. Opening is
// strict and throws the first error. Verifying collects everything and continues where that is safe.
import type { Code, Details, Finding } from './finding.js'
import { findingOf, TareError } from './tare-error.js'

export interface Report {
  /** The file that findings belong to unless they say otherwise. */
  readonly file: string
  /** Whether the first error is thrown. */
  readonly strict: boolean
  report(code: Code, details: Details): void
  fail(code: Code, details: Details): never
  /** The same report, for another file of the same model. */
  forFile(file: string): Report
}

/** Throws the first error; hands warnings and notes to `onFinding`. */
export function strictReport(file: string, onFinding?: (finding: Finding) => void): Report {
  const report = (code: Code, details: Details): void => {
    const finding = findingOf(code, details, file)
    if (finding.severity === 'error') throw new TareError(finding)
    onFinding?.(finding)
  }
  return {
    file,
    strict: true,
    report,
    fail(code, details): never {
      throw new TareError(findingOf(code, details, file))
    },
    forFile: (other) => strictReport(other, onFinding),
  }
}

/** The maximum number of findings per file, so that a hostile index cannot fill memory with findings. */
export const maxFindings = 10_000

/** Collects every finding. `fail` records the finding and still throws, since the parser cannot continue. */
export function collectingReport(file: string, findings: Finding[], limit = maxFindings): Report {
  const keep = (code: Code, details: Details): Finding => {
    const finding = findingOf(code, details, file)
    const room = finding.severity === 'error' ? 2 * limit : limit // a flood of warnings must not hide an error
    if (findings.length < room) findings.push(finding)
    return finding
  }
  return {
    file,
    strict: false,
    report: keep,
    fail(code, details): never {
      throw new TareError(keep(code, details))
    },
    forFile: (other) => collectingReport(other, findings, limit),
  }
}
