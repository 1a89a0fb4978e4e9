// Size variables, and shapes that use them. A dimension is a number, a name, or a product of these; its value must match the data.
import { toSafe } from '../bytes/index.js'
import { packCodes } from './codes.js'
import { describe, type Field, fail, item, membersOf } from './field.js'
import { Float } from './float.js'

export type SizeVariables = ReadonlyMap<string, bigint>

const highestSize = 2n ** 64n - 1n

export function readSizeVariables(field: Field | undefined): SizeVariables {
  const sizes = new Map<string, bigint>()
  if (!field) return sizes
  for (const [name, member] of membersOf(field, 'an object of size variables')) {
    const { value } = member
    if (value === null) fail(member, packCodes.missing, 'the size variable has no value; fill it in')
    const size = wholeNumber(value)
    if (size === undefined)
      return fail(member, packCodes['size-value'], `expected a whole number, not ${describe(value)}`)
    if (size < 0n || size > highestSize) fail(member, packCodes['size-value'], `${size} is not from 0 to 2^64-1`)
    sizes.set(name, size)
  }
  return sizes
}

/** A shape as written and as evaluated. */
export interface Shape {
  readonly field: Field
  readonly dims: readonly number[]
  readonly written: readonly unknown[]
}

export function readShape(field: Field | undefined, sizes: SizeVariables): Shape | undefined {
  if (!field) return undefined
  const { value } = field
  if (!Array.isArray(value))
    return fail(field, packCodes['field-type'], `expected a list of dimensions, not ${describe(value)}`)
  const dims = value.map((dim, i) => readDimension(item(field, i, dim), sizes))
  return { field, dims, written: value }
}

function readDimension(field: Field, sizes: SizeVariables): number {
  const { value } = field
  const size = typeof value === 'string' ? product(field, value, sizes) : wholeNumber(value)
  if (size === undefined || size < 0n)
    return fail(
      field,
      packCodes.dimension,
      `expected a whole number or the name of a size variable, not ${describe(value)}`,
    )
  return toSafe(size) ?? fail(field, packCodes.dimension, `${describe(value)} is ${size}, more than 2^53-1`)
}

/** 4.0 is accepted where only whole numbers make sense. */
function wholeNumber(raw: unknown): bigint | undefined {
  const value = raw instanceof Float ? raw.value : raw
  if (typeof value === 'bigint') return value
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : undefined
}

/** `D`, `2*D`, `D * H`. The text is first tried as a single name: names may contain a star. */
function product(field: Field, text: string, sizes: SizeVariables): bigint {
  const whole = sizes.get(text)
  if (whole !== undefined) return whole
  let size = 1n
  for (const part of text.split('*')) {
    const name = part.trim()
    const factor = sizes.get(name) ?? (/^[0-9]{1,20}$/.test(name) ? BigInt(name) : undefined)
    if (factor === undefined) {
      const known = sizes.size === 0 ? 'none is declared' : `declared are ${listNames(sizes.keys())}`
      return fail(field, packCodes.dimension, `there is no size variable ${JSON.stringify(name)}; ${known}`)
    }
    size *= factor
  }
  return size
}

export function listNames(names: Iterable<string>, max = 8): string {
  const all = [...names]
  const shown = all.slice(0, max).join(', ')
  return all.length > max ? `${shown} and ${all.length - max} more` : shown
}

/** Fails unless the data has the stated shape. Names the dimension and its size variable. */
export function requireShape(shape: Shape, actual: readonly number[], what: string): void {
  const { field, dims, written } = shape
  if (dims.length !== actual.length) {
    const message = `${what} has the shape [${actual.join(', ')}], but [${dims.join(', ')}] is stated`
    fail(field, packCodes['shape-mismatch'], message)
  }
  const at = dims.findIndex((dim, i) => dim !== actual[i])
  if (at < 0) return
  const stated = typeof written[at] === 'string' ? `${written[at]} is ${dims[at]}` : `${dims[at]} is stated`
  const message = `${what} has the shape [${actual.join(', ')}]: dimension ${at} is ${actual[at]}, but ${stated}`
  fail(item(field, at, undefined), packCodes['shape-mismatch'], message)
}
