// A promise that was not kept, and the first promise of all: that nothing fails in a way that it should not.
import { TareError } from '../../dist/kit.js'

export class Broken extends Error {
  constructor(promise, message) {
    super(`${promise}: ${message}`)
    this.promise = promise
  }
}

/** Only findings, never raw exceptions. Undefined after a finding, which `onFinding` is told about. */
export async function guarded(promise, work, onFinding) {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Broken) throw error
    if (!(error instanceof TareError))
      throw new Broken(`${promise} fails only with findings`, error?.stack ?? String(error))
    if (error.code === 'verify/internal') throw new Broken(`${promise} never blames itself`, error.message)
    onFinding?.(error.finding)
    return undefined
  }
}

export const errorsOf = (findings) => findings.filter(({ severity }) => severity === 'error')

/** What came out, as one of not too many texts: inputs with an outcome of their own are worth a closer look. */
export const outcomeOf = ({ code, path = '' }) => `${code} ${path.replace(/"(?:[^"\\]|\\.)*"|\d+/g, '#').slice(0, 80)}`
