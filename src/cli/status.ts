/** 0: fine. 1: the answer is no. 2: the run itself could not be done. */
export type Status = 0 | 1 | 2

export const worst = (a: Status, b: Status): Status => (a > b ? a : b)

/** The command was used wrongly. The message says what would be right. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
