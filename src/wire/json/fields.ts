// Checks of the fields of a parsed JSON document that nobody vouches for. `refuse` throws, with the path of the field that is wrong.

export type Refuse = (path: string, message: string) => never
export type Fields = Readonly<Record<string, unknown>>

export function objectAt(value: unknown, path: string, refuse: Refuse): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  return refuse(path, 'expected an object')
}

export const listAt = (value: unknown, path: string, refuse: Refuse): readonly unknown[] =>
  Array.isArray(value) ? value : refuse(path, 'expected a list')

export const textAt = (value: unknown, path: string, refuse: Refuse): string =>
  typeof value === 'string' ? value : refuse(path, 'expected a text')

/** A whole number from 0 on. */
export const countAt = (value: unknown, path: string, refuse: Refuse): number =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : refuse(path, 'expected a whole number')

export function oneOf<const T extends string>(value: unknown, choices: readonly T[], path: string, refuse: Refuse): T {
  return choices.includes(value as T) ? (value as T) : refuse(path, `expected one of ${choices.join(', ')}`)
}

/** A digest of this many bytes as lower-case hexadecimal digits. */
export function hexAt(value: unknown, bytes: number, path: string, refuse: Refuse): string {
  if (typeof value === 'string' && value.length === 2 * bytes && /^[0-9a-f]+$/.test(value)) return value
  return refuse(path, `expected ${2 * bytes} hexadecimal digits`)
}

export function base64At(value: unknown, path: string, refuse: Refuse): Uint8Array {
  if (typeof value !== 'string' || value.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(value) || value === '')
    return refuse(path, 'expected base64')
  return Uint8Array.from(atob(value), (letter) => letter.charCodeAt(0))
}

/** A value in a message. */
export const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 200)
