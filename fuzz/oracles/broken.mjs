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

/**
 * What came out, as one of not too many texts: inputs with an outcome of their own are worth a closer look. Numbers of gigabytes take other
 * ways than small ones, so the length of the longest one counts.
 */
export function outcomeOf({ code, path = '', message = '' }) {
  const place = path.replace(/"(?:[^"\\]|\\.)*"|\d+/g, '#').slice(0, 80)
  const longest = (message.slice(0, 400).match(/\d+/g) ?? []).reduce((max, { length }) => Math.max(max, length), 0)
  return `${code} ${place} ${Math.min(4, Math.ceil(longest / 4))}`
}
