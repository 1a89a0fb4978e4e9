// A finding is one thing that a parser or verifier noticed: which rule, how bad, and exactly where. An error carries one; a report takes
// those of a parser.

/** How bad a finding is. Only errors make a file invalid. */
export type Severity = 'error' | 'warning' | 'note'

/** One row of a code table: a stable code, its default severity and a text for docs/codes.md. */
export interface Code<C extends string = string> {
  readonly code: C
  readonly severity: Severity
  readonly text: string
}

/** One thing that is wrong or worth knowing, and exactly where. */
export interface Finding<C extends string = string> {
  readonly code: C
  readonly severity: Severity
  readonly message: string
  readonly file: string
  readonly offset?: number
  readonly length?: number
  readonly path?: string
  /** The size that the file must have for this to be there; it was cut off if it has less. */
  readonly needs?: number
  /** The file needs more than `needs`, and nothing says how much. */
  readonly needsMore?: boolean
}

/** What a caller adds to a code: the message and the place. */
export interface Details {
  readonly message: string
  readonly file?: string
  readonly offset?: number
  readonly length?: number
  readonly path?: string
  /** The size that the file must have for this to be there; it was cut off if it has less. */
  readonly needs?: number
  /** The file needs more than `needs`, and nothing says how much. */
  readonly needsMore?: boolean
}

/** For `needs`, where a file states its size; numbers that no file can have are left out. */
export const neededSize = (size: number | bigint): { readonly needs?: number } =>
  Number.isSafeInteger(Number(size)) ? { needs: Number(size) } : {}

/** The place of a finding, for another finding about the same place. */
export function placeOf({ file, offset, length, path }: Finding): Omit<Details, 'message'> & { readonly file: string } {
  return {
    file,
    ...(offset !== undefined && { offset }),
    ...(length !== undefined && { length }),
    ...(path !== undefined && { path }),
  }
}

export function formatFinding(finding: Finding): string {
  const at = finding.offset === undefined ? '' : ` @ 0x${finding.offset.toString(16)}`
  const path = finding.path ? ` ${finding.path}` : ''
  return `${finding.file}${at}${path}: ${finding.message}`
}

/** The only error that tare throws on purpose. It carries the finding, so callers can match on the code. */
export class TareError<C extends string = string> extends Error {
  override readonly name = 'TareError'
  readonly finding: Finding<C>

  constructor(finding: Finding<C>, options?: ErrorOptions) {
    super(formatFinding(finding), options)
    this.finding = finding
  }

  get code(): C {
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

// One parser serves both opening and verifying. It calls `report` for problems it can continue after and `fail` where it cannot. Opening is
// strict and throws the first error. Verifying collects everything and continues where that is safe.

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

// Messages tell what to do about a problem. The command's user types flags and verbs, a program sets options and calls functions. The command
// and the page, which shows commands to copy, switch to flags; the library never does.
//
// The wording is a setting of the process, as a language would be, and not data on each finding: notes and reasons of plans contain such words,
// too, and are plain strings for those who read a plan. A program that imports the library never turns it on.
let isCommand = false

/** From now on messages in this process name flags and verbs. */
export function speakOfFlags(): void {
  isCommand = true
}

/** What the caller would write: `callerWord('--only', 'only')`. */
export const callerWord = (flag: string, option: string): string => (isCommand ? flag : option)
