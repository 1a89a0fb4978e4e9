/** 0: fine. 1: the answer is no. 2: the run itself could not be done. */
export type Status = 0 | 1 | 2

/**
 * What keeps a run from being done at all: wrong usage, an input that is missing or cannot be read, the network, an output that cannot be
 * written. Every other error is the answer "no" about a file.
 */
const cannotRun: readonly string[] = [
  ...['not-found', 'denied', 'failed', 'not-a-file', 'ambiguous-directory', 'empty-directory', 'exists', 'no-space'],
  ...['needs-seek', 'needs-folder', 'aborted', 'busy', 'interrupted', 'changed', 'short-read'],
].map((name) => `io/${name}`)

/** Of the other rooms: wishes that cannot be met whatever the input is, files in use, and bugs. */
const alsoCannotRun: readonly string[] = [
  ...['edit/interrupted', 'edit/busy', 'edit/no-such-key', 'edit/value-type'],
  ...['write/not-writable', 'embed/engine-missing', 'verify/internal'],
]

/** Exceptions: these say something about what was looked at. */
const answers: readonly string[] = ['remote/digest-mismatch', 'job/incomplete']

export const meansCannotRun = (code: string): boolean =>
  cannotRun.includes(code) ||
  alsoCannotRun.includes(code) ||
  (/^(usage|remote|job)\//.test(code) && !answers.includes(code))

/** The command was used wrongly. The message says what would be right. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
