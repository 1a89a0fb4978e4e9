// What JSON from elsewhere must look like before anything of it is used. A shape takes a value and its path, and complains about the first
// place that is not as it should be.
type Complain = (path: string, message: string) => never
export type Shape = (value: unknown, path: string, complain: Complain) => void

export const text: Shape = (value, path, complain) => {
  if (typeof value !== 'string') complain(path, `a text was expected, not ${kindOf(value)}`)
}

export const flag: Shape = (value, path, complain) => {
  if (typeof value !== 'boolean') complain(path, `true or false was expected, not ${kindOf(value)}`)
}

/** Something that is looked at elsewhere. */
export const anything: Shape = () => {}

/** A number of bytes or things. */
export const count: Shape = (value, path, complain) => {
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    complain(path, `a whole number was expected, not ${kindOf(value)}`)
}

export const finite: Shape = (value, path, complain) => {
  if (!Number.isFinite(value)) complain(path, `a number was expected, not ${kindOf(value)}`)
}

/** Text that stands for a number, NaN and infinities included. */
export const numeral: Shape = (value, path, complain) => {
  if (typeof value !== 'string' || !/^(NaN|-?Infinity|-?\d+(\.\d+)?(e[+-]?\d+)?)$/.test(value))
    complain(path, `a number as text was expected, not ${kindOf(value)}`)
}

export const oneOf =
  (...words: readonly string[]): Shape =>
  (value, path, complain) => {
    if (!words.includes(value as string)) complain(path, `${words.join(' or ')} was expected, not ${kindOf(value)}`)
  }

export const matching =
  (pattern: RegExp, what: string): Shape =>
  (value, path, complain) => {
    if (typeof value !== 'string' || !pattern.test(value)) complain(path, `${what} was expected, not ${kindOf(value)}`)
  }

export const list =
  (item: Shape): Shape =>
  (value, path, complain) => {
    if (!Array.isArray(value)) return complain(path, `a list was expected, not ${kindOf(value)}`)
    for (let i = 0; i < value.length; i++) item(value[i], `${path}[${i}]`, complain)
  }

/** A list with an item of each shape; those after `required` may be left out. */
export const tuple =
  (items: readonly Shape[], required = items.length): Shape =>
  (value, path, complain) => {
    if (!Array.isArray(value) || value.length < required || value.length > items.length)
      return complain(path, `a list of ${required} was expected`)
    for (const [i, each] of value.entries()) items[i]!(each, `${path}[${i}]`, complain)
  }

/** An object with these members and no others; a name with `?` may be missing. */
export function fields(shapes: Readonly<Record<string, Shape>>): Shape {
  const known = new Map(Object.entries(shapes).map(([key, shape]) => [key.replace(/\?$/, ''), shape]))
  const needed = Object.keys(shapes).filter((key) => !key.endsWith('?'))
  return (value, path, complain) => {
    const members = membersOf(value, path, complain)
    for (const key of needed) if (!members.has(key)) complain(join(path, key), 'it is missing')
    for (const [key, each] of members) {
      const shape = known.get(key)
      if (!shape) complain(join(path, key), 'there is no such member')
      else shape(each, join(path, key), complain)
    }
  }
}

/** An object with any members of one shape. */
export const record =
  (item: Shape): Shape =>
  (value, path, complain) => {
    for (const [key, each] of membersOf(value, path, complain)) item(each, join(path, key), complain)
  }

export const either =
  (...shapes: readonly Shape[]): Shape =>
  (value, path, complain) => {
    const fits = shapes.some((shape) => {
      try {
        shape(value, path, () => {
          throw noFit
        })
        return true
      } catch (error) {
        if (error !== noFit) throw error
        return false
      }
    })
    if (!fits) complain(path, `${kindOf(value)} cannot stand here`)
  }

/** A finding that another machine reports. */
export const finding: Shape = fields({
  code: text,
  severity: oneOf('error', 'warning', 'note'),
  message: text,
  file: text,
  'offset?': count,
  'length?': count,
  'path?': text,
})

/** The value that a JSON text stands for, if it has the shape. */
export function parseAs(content: string, shape: Shape, complain: Complain): unknown {
  let value: unknown
  try {
    value = JSON.parse(content)
  } catch {
    return complain('', 'this is not JSON')
  }
  shape(value, '', complain)
  return value
}

const noFit = new Error('no fit')

function membersOf(value: unknown, path: string, complain: Complain): Map<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return complain(path, `an object was expected, not ${kindOf(value)}`)
  return new Map(Object.entries(value))
}

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`)

const maxShown = 40

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  return (JSON.stringify(value) ?? 'nothing').slice(0, maxShown)
}
