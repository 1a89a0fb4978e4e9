// As much of JSON Schema as the schema of descriptions uses. A keyword that is not known here is an error, so that none goes unchecked.
import { readFileSync } from 'node:fs'
import { Float } from '../../src/pack/float.js'

type Schema = Readonly<Record<string, unknown>>

export const schema: Schema & { readonly $defs: Readonly<Record<string, Schema>> } = JSON.parse(
  readFileSync(new URL('../../docs/schema/model-description.schema.json', import.meta.url), 'utf8'),
)

const notes = new Set(['$schema', '$defs', 'title', 'description'])
const isNumber = (value: unknown): boolean => typeof value === 'number' || typeof value === 'bigint'

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  number: isNumber,
  integer: (value) => typeof value === 'bigint' || Number.isInteger(value),
  string: (value) => typeof value === 'string',
  array: Array.isArray,
  object: (value) => value instanceof Map,
}

type Check = (value: unknown, wanted: unknown, path: string, all: Schema) => string[]

const complain = (isRight: boolean, path: string, message: string): string[] => (isRight ? [] : [`${path}: ${message}`])
const entriesOf = (value: unknown): [string, unknown][] => (value instanceof Map ? [...value] : [])

const keywords: Readonly<Record<string, Check>> = {
  $ref: (value, wanted, path) => errorsOf(value, schema.$defs[String(wanted).replace('#/$defs/', '')]!, path),
  type: (value, wanted, path) =>
    complain(
      [wanted].flat().some((type) => types[type as string]!(value)),
      path,
      `no ${wanted}`,
    ),
  enum: (value, wanted, path) => complain((wanted as unknown[]).includes(value), path, 'not one of the choices'),
  const: (value, wanted, path) => complain(value === wanted, path, `not ${wanted}`),
  minimum: (value, wanted, path) =>
    complain(!isNumber(value) || (value as number) >= (wanted as number), path, 'too low'),
  maximum: (value, wanted, path) =>
    complain(!isNumber(value) || (value as number) <= (wanted as number), path, 'too high'),
  minLength: (value, wanted, path) =>
    complain(typeof value !== 'string' || value.length >= (wanted as number), path, 'too short'),
  pattern: (value, wanted, path) =>
    complain(typeof value !== 'string' || new RegExp(wanted as string).test(value), path, `not ${wanted}`),
  required: (value, wanted, path) =>
    (wanted as string[]).flatMap((name) =>
      complain(!(value instanceof Map) || value.has(name), path, `${name} is missing`),
    ),
  properties: (value, wanted, path) =>
    entriesOf(value).flatMap(([name, inner]) => {
      const known = (wanted as Record<string, Schema>)[name]
      return known ? errorsOf(inner, known, `${path}.${name}`) : []
    }),
  additionalProperties: (value, wanted, path, all) =>
    entriesOf(value).flatMap(([name, inner]) => {
      if (Object.hasOwn((all.properties ?? {}) as object, name)) return []
      return wanted === false ? [`${path}: no field ${name}`] : errorsOf(inner, wanted as Schema, `${path}.${name}`)
    }),
  items: (value, wanted, path) =>
    Array.isArray(value) ? value.flatMap((inner, i) => errorsOf(inner, wanted as Schema, `${path}[${i}]`)) : [],
  anyOf: (value, wanted, path) => {
    const all = (wanted as Schema[]).map((each) => errorsOf(value, each, path))
    return all.some((errors) => errors.length === 0)
      ? []
      : [`${path}: none of ${all.length} fits: ${all.flat().join('; ')}`]
  },
}

function errorsOf(given: unknown, against: Schema, path: string): string[] {
  const value = given instanceof Float ? given.value : given
  return Object.entries(against).flatMap(([keyword, wanted]) => {
    if (notes.has(keyword)) return []
    const check = keywords[keyword]
    if (!check) throw new Error(`the validator does not know ${keyword}`)
    return check(value, wanted, path, against)
  })
}

/** What is wrong with a parsed description by the published schema. */
export const schemaErrors = (description: unknown): string[] => errorsOf(description, schema, '$')
