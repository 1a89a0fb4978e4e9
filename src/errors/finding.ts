// A finding is one thing that a parser or verifier noticed: which rule, how bad, and exactly where.

export type Severity = 'error' | 'warning' | 'note'

/** One row of a code table: a stable code, its default severity and a text for docs/codes.md. */
export interface Code {
  readonly code: string
  readonly severity: Severity
  readonly text: string
}

export interface Finding {
  readonly code: string
  readonly severity: Severity
  readonly message: string
  readonly file: string
  readonly offset?: number
  readonly length?: number
  readonly path?: string
}

/** What a caller adds to a code: the message and the place. */
export interface Details {
  readonly message: string
  readonly file?: string
  readonly offset?: number
  readonly length?: number
  readonly path?: string
}

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
