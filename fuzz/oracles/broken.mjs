// A promise that was not kept, and the first promise of all: that nothing fails in a way that it should not.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
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
    const finding = findingOf(promise, error)
    onFinding?.(finding)
    return undefined
  }
}

/** What an error tells; one that is no finding breaks a promise. */
export function findingOf(promise, error) {
  if (error instanceof Broken) throw error
  if (!(error instanceof TareError))
    throw new Broken(`${promise} fails only with findings`, error?.stack ?? String(error))
  if (error.code === 'verify/internal') throw new Broken(`${promise} never blames itself`, error.message)
  return error.finding
}

export const errorsOf = (findings) => findings.filter(({ severity }) => severity === 'error')

/**
 * What came out, as one of not too many texts: inputs with an outcome of their own are worth a closer look. Keys that a file made up are all
 * the same in a path, and nesting has an end. Numbers of gigabytes take other ways than small ones, so the length of the
 * longest one counts.
 */
export function outcomeOf({ code, path = '', message = '' }) {
  const place = path
    .replace(/"(?:[^"\\]|\\.)*"/g, '*')
    .replace(/[^.[\]\s*]+/g, (word) => (ownWords.has(word) ? word : '*'))
    .replace(/([.[\]\s]*\*[.[\]\s]*)+/g, '*')
    .split(/[.*]/, 4)
    .join('.')
  const longest = (message.slice(0, 400).match(/\d+/g) ?? []).reduce((max, { length }) => Math.max(max, length), 0)
  return `${code} ${place.slice(0, 80)} ${Math.min(4, Math.ceil(longest / 4))}`
}

/** Names of fields that paths of findings have come from tare itself, and are somewhere in it. */
const ownWords = new Set()
const dist = fileURLToPath(new URL('../../dist/', import.meta.url))
for (const room of ['formats', 'wire', 'content', 'delta', 'jobs', 'verify'])
  for (const name of readdirSync(join(dist, room), { recursive: true }))
    if (name.endsWith('.js'))
      for (const [word] of readFileSync(join(dist, room, name), 'utf8').matchAll(/\w{3,}/g)) ownWords.add(word)
