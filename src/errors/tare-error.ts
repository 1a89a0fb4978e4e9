import { type Code, type Details, type Finding, formatFinding } from './finding.js'

/** The only error that tare throws on purpose. It carries the finding, so callers can match on the code. */
export class TareError extends Error {
  override readonly name = 'TareError'
  readonly finding: Finding

  constructor(finding: Finding, options?: ErrorOptions) {
    super(formatFinding(finding), options)
    this.finding = finding
  }

  get code(): string {
    return this.finding.code
  }
}

export function findingOf(code: Code, details: Details, file = ''): Finding {
  return { code: code.code, severity: code.severity, file: details.file ?? file, ...details } as Finding
}

export function failWith(code: Code, details: Details & { file: string }, options?: ErrorOptions): never {
  throw new TareError(findingOf(code, details), options)
}

/** Failures of the system, the network or the caller: they say nothing about the file itself. */
const systemFailures: ReadonlySet<string> = new Set(
  ['failed', 'denied', 'aborted', 'busy', 'interrupted', 'changed']
    .map((name) => `io/${name}`)
    .concat('remote/unreachable'),
)

/** Whether an error means that a file could not be examined, as opposed to a file that is missing or wrong. */
export const isSystemFailure = (error: unknown): boolean => error instanceof TareError && systemFailures.has(error.code)
