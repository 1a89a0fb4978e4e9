import type { TareCode } from '../all-codes.js'
import { TareError } from '../errors/index.js'

/**
 * Whether an error is one that tare throws on purpose and, if codes are given, whether it has one of them. docs/codes.md lists all codes.
 *
 * @example
 * try {
 *   await openModel('model.gguf')
 * } catch (error) {
 *   if (!isTareError(error, 'io/not-found')) throw error
 *   console.log(error.code, error.finding.file)
 * }
 */
export function isTareError<C extends TareCode = TareCode>(
  error: unknown,
  ...codes: readonly C[]
): error is TareError<C> {
  return error instanceof TareError && (codes.length === 0 || codes.includes(error.code as C))
}
