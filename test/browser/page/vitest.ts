// What the tests of the kernels use of vitest, small enough to run in a page: they are loaded there as they are.

type Work = (...values: never[]) => unknown

export interface Outcome {
  readonly name: string
  readonly error?: string
}

let collected: { name: string; work: () => unknown }[] = []
const names: string[] = []

function addTest(name: string, work: Work): void {
  collected.push({ name: [...names, name].join(' › '), work: work as () => unknown })
}

function addGroup(name: string, work: Work): void {
  names.push(name)
  ;(work as () => void)()
  names.pop()
}

/** A name and a function for each row; an array gives several arguments. */
function eachOf(add: (name: string, work: Work) => void) {
  return (rows: readonly unknown[]) =>
    (name: string, work: Work): void => {
      for (const row of rows) {
        const values = (Array.isArray(row) ? row : [row]) as never[]
        const rest = [...values]
        add(
          name.replaceAll(/%[si]/g, () => String(rest.shift())),
          () => work(...values),
        )
      }
    }
}

/** @public */
export const it = Object.assign(addTest, { each: eachOf(addTest) })
/** @public */
export { it as test }
/** @public */
export const describe = Object.assign(addGroup, { each: eachOf(addGroup) })

/** Runs what was collected since the last time. */
export async function runCollected(): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const { name, work } of collected.splice(0)) {
    try {
      await work()
      outcomes.push({ name })
    } catch (error) {
      outcomes.push({ name, error: error instanceof Error ? error.message : String(error) })
    }
  }
  return outcomes
}

/** Forgets what a module that could not be loaded has left behind. */
export function forgetCollected(): void {
  collected = []
  names.length = 0
}

class Mismatch extends Error {}

function matchers(found: unknown, label: string, isWanted: boolean) {
  const judge = (matches: boolean, what: string): void => {
    if (matches !== isWanted) throw new Mismatch(`${label}${shown(found)} ${isWanted ? '' : 'not '}${what}`)
  }
  return {
    toBe: (wanted: unknown) => judge(Object.is(found, wanted), `to be ${shown(wanted)}`),
    toEqual: (wanted: unknown) => judge(areEqual(found, wanted), `to equal ${shown(wanted)}`),
    toStrictEqual: (wanted: unknown) => judge(areEqual(found, wanted), `to equal ${shown(wanted)}`),
    toBeDefined: () => judge(found !== undefined, 'to be defined'),
    toBeUndefined: () => judge(found === undefined, 'to be undefined'),
    toBeGreaterThan: (least: number) => judge((found as number) > least, `to be above ${least}`),
    toBeLessThan: (most: number) => judge((found as number) < most, `to be below ${most}`),
    toBeLessThanOrEqual: (most: number) => judge((found as number) <= most, `to be at most ${most}`),
    toThrow: (wanted?: string | RegExp | (new () => Error)) =>
      judge(throws(found as () => void, wanted), `to throw ${wanted ?? ''}`),
  }
}

export function expect(found: unknown, message?: string) {
  const label = message === undefined ? '' : `${message}: `
  return { ...matchers(found, label, true), not: matchers(found, label, false) }
}

function throws(work: () => void, wanted: string | RegExp | (new () => Error) | undefined): boolean {
  try {
    work()
    return false
  } catch (error) {
    if (wanted === undefined) return true
    if (typeof wanted === 'function') return error instanceof wanted
    const { message } = error as Error
    return typeof wanted === 'string' ? message.includes(wanted) : wanted.test(message)
  }
}

/** Whatever is in it, of the same classes. */
export function areEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
  if (ArrayBuffer.isView(a)) return haveEqualItems(a as unknown as ArrayLike<unknown>, b as ArrayLike<unknown>)
  if (a instanceof Map || a instanceof Set) return areEqual([...a], [...(b as Iterable<unknown>)])
  const [keys, others] = [Object.keys(a), Object.keys(b)]
  if (keys.length !== others.length) return false
  return keys.every((key) => Object.hasOwn(b, key) && areEqual(a[key as never], b[key as never]))
}

function haveEqualItems(a: ArrayLike<unknown>, b: ArrayLike<unknown>): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false
  return true
}

function shown(value: unknown): string {
  if (typeof value === 'function') return 'the call'
  if (typeof value !== 'object') return String(value)
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each))?.slice(0, 400) ?? ''
}
