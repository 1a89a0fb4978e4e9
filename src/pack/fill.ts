// Fills in a description: JSON gives values to its fields by name, like arguments to the parameters of a constructor.
//
//   { "B": 4, "w1": [[0.5, …]], "lr": 0.01 }                   names that only one section has
//   { "tensors": { "w1": … }, "metadata": { "note": "x" } }     by section; here new names may be added

import { packCodes } from './codes.js'
import type { ModelDescription } from './description.js'
import { describe, type Field, fail, isObject, knownMembers, membersOf } from './field.js'
import { Float } from './float.js'
import { sections } from './pack.js'
import { listNames } from './shape.js'
import { specials } from './values.js'

type Section = (typeof sections)[number]
type Entries = Record<Section, Map<string, unknown>>

export interface FillOptions {
  /** The names of the description and of the data, for errors. */
  readonly name?: string | undefined
  readonly dataName?: string | undefined
}

/** The description with values from `data`; fields that data does not name are unchanged. */
export function fillDescription(description: unknown, data: unknown, options: FillOptions = {}): ModelDescription {
  const root: Field = { value: description, path: '', file: options.name ?? 'description' }
  const fields = knownMembers(root, ['$schema', ...sections], 'an object with sizevars, metadata and tensors')
  const entries = { sizevars: new Map(), metadata: new Map(), tensors: new Map() } as Entries
  for (const section of sections) {
    const field = fields.get(section)
    if (field) for (const [name, { value }] of membersOf(field)) entries[section].set(name, value)
  }
  const values = membersOf({ value: data, path: '', file: options.dataName ?? 'data' }, 'an object of fields')
  for (const [name, field] of values) {
    if (isSection(name) && isObject(field.value)) {
      for (const [inner, value] of membersOf(field)) fillEntry(entries, name, inner, value)
    } else fillEntry(entries, sectionOf(entries, name, field), name, field)
  }
  // Maps throughout: names come from files.
  return new Map(Object.entries(entries)) as unknown as ModelDescription
}

const isSection = (name: string): name is Section => (sections as readonly string[]).includes(name)

function sectionOf(entries: Entries, name: string, field: Field): Section {
  const found = sections.filter((section) => entries[section].has(name))
  if (found.length === 1) return found[0]!
  if (found.length > 1)
    return fail(
      field,
      packCodes.ambiguous,
      `${found.join(' and ')} both have ${JSON.stringify(name)}; put it under one of them`,
    )
  const known = sections.flatMap((section) => [...entries[section].keys()])
  const declared = known.length === 0 ? 'it declares none' : `declared are ${listNames(known, 12)}`
  return fail(field, packCodes['unknown-field'], `the description has no field ${JSON.stringify(name)}; ${declared}`)
}

function fillEntry(entries: Entries, section: Section, name: string, field: Field): void {
  const before = entries[section].get(name)
  const fill = { sizevars: fillSize, metadata: fillMetadata, tensors: fillTensor }[section]
  entries[section].set(name, fill(before, field))
}

const fillSize = (_before: unknown, { value }: Field): unknown => value

/** A list or a number replaces the data; an object adds to the declared fields or replaces them one by one. */
function fillTensor(before: unknown, field: Field): unknown {
  const declared = isObject(before) ? plainMembers({ ...field, value: before }) : new Map<string, unknown>()
  const given = isObject(field.value) ? plainMembers(field) : new Map([['data', field.value]])
  if (given.has('data')) for (const name of ['file', 'member']) declared.delete(name)
  if (given.has('file')) for (const name of ['data', 'member']) declared.delete(name)
  return new Map([...declared, ...given])
}

/** A plain default fixes the kind of the value: a float stays a float when 1 is given for it. */
function fillMetadata(before: unknown, field: Field): unknown {
  const { value } = field
  if (isObject(before)) {
    const given = isObject(value) ? plainMembers(field) : new Map([['value', value]])
    const declared = plainMembers({ ...field, value: before })
    if (['value', 'file', 'bitset'].some((name) => given.has(name)))
      for (const name of ['value', 'file', 'member', 'bitset']) declared.delete(name)
    return new Map([...declared, ...given])
  }
  if (before === undefined || before === null || isObject(value)) return value
  const [wanted, found] = [kindOf(before), kindOf(value)]
  if (wanted === 'a float' && found === 'an integer') return new Float(Number(value))
  const special = wanted === 'a float' ? specials.get(value) : undefined
  if (special !== undefined) return new Float(special)
  if (wanted !== found)
    fail(field, packCodes['field-type'], `expected ${wanted}, as in the description, not ${describe(value)}`)
  return value
}

const plainMembers = (field: Field): Map<string, unknown> =>
  new Map([...membersOf(field)].map(([name, { value }]) => [name, value]))

function kindOf(value: unknown): string {
  if (value instanceof Float) return 'a float'
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a float'
  if (typeof value === 'bigint') return 'an integer'
  if (typeof value === 'boolean') return 'a boolean'
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return 'a list'
  return typeof value === 'string' ? 'a text' : describe(value)
}
