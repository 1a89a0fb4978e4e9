// A value of the description with its path, so that every error names its field.
import { type Code, failWith } from '../errors/index.js'
import { memberPath } from '../wire/json/json.js'
import { packCodes } from './codes.js'
import { Float } from './float.js'

export interface Field {
  readonly value: unknown
  /** `tensors.w1.shape[0]` */
  readonly path: string
  /** The description. */
  readonly file: string
}

export function fail(field: Omit<Field, 'value'>, code: Code, message: string, cause?: unknown): never {
  const { file, path } = field
  failWith(code, { file, ...(path !== '' && { path }), message }, cause === undefined ? undefined : { cause })
}

export const member = (field: Field, name: string, value: unknown): Field => ({
  ...field,
  value,
  path: memberPath(field.path, name),
})

export const item = (field: Field, index: number, value: unknown): Field => ({
  ...field,
  value,
  path: `${field.path}[${index}]`,
})

/** Objects of library users, and the Maps that parsed text becomes. */
export function isObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value) || ArrayBuffer.isView(value) || value instanceof Float) return false
  return value instanceof Map || isPlain(value) || Object.keys(value).length > 0
}

/** An instance of a class counts if it has fields; a Date or a Set has none. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** The members of an object in order, without undefined ones. */
export function membersOf(field: Field, wanted = 'an object'): Map<string, Field> {
  const { value } = field
  if (!isObject(value)) return fail(field, packCodes['field-type'], `expected ${wanted}, not ${describe(value)}`)
  const entries: Iterable<readonly [string, unknown]> =
    value instanceof Map ? (value as Map<string, unknown>) : Object.entries(value)
  const members = new Map<string, Field>()
  for (const [name, inner] of entries) if (inner !== undefined) members.set(name, member(field, name, inner))
  return members
}

/** The same for an object whose fields are all known; a misspelled field is an error. */
export function knownMembers<K extends string>(
  field: Field,
  known: readonly K[],
  wanted?: string,
): ReadonlyMap<K, Field> {
  const members = membersOf(field, wanted)
  for (const [name, inner] of members) {
    if (!(known as readonly string[]).includes(name))
      fail(inner, packCodes['unknown-field'], `this field means nothing here; known are ${known.join(', ')}`)
  }
  return members as Map<string, Field> as Map<K, Field>
}

export function textOf(field: Field, wanted: string): string {
  if (typeof field.value === 'string') return field.value
  return fail(field, packCodes['field-type'], `expected ${wanted}, not ${describe(field.value)}`)
}

/** Describes a value for a message. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'a list'
  if (ArrayBuffer.isView(value)) return value.constructor.name
  if (value instanceof Float) return Number.isInteger(value.value) ? value.value.toFixed(1) : String(value.value)
  if (typeof value === 'string')
    return `the text ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)}`
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'object') return `a ${typeof value}`
  return isObject(value) ? 'an object' : `an object of type ${(value as object).constructor.name}`
}
