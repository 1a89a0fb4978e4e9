// Values of the configuration as metadata, checked: a file can say anything.
import { failWith } from '../errors/index.js'
import { listOf, type MetaList, type MetaValue } from '../model/index.js'
import { compareMeta } from '../model/same-meta.js'
import { familyCodes } from './codes.js'
import { find } from './facts.js'
import type { Facts, KeyRule } from './family.js'

/** The entry of a rule; undefined where there is nothing to write. */
export function valueFor(rule: KeyRule, facts: Facts, file: string): MetaValue | undefined {
  const stated = rule.value ? rule.value(facts) : find(facts.config, rule.from ?? [])
  const path = rule.from?.find((key) => key in facts.config) ?? rule.from?.[0] ?? rule.key
  if (stated == null) {
    if (!rule.required) return undefined
    const message = `${rule.key} needs a value`
    return failWith(familyCodes['config-value'], { file, path, message })
  }
  const value = typed(rule.type, stated)
  if (value) return value
  const wanted = { u32: 'a whole number', f32: 'a number', bool: 'true or false', str: 'a text' } as const
  const message = `${rule.key} is ${JSON.stringify(stated)}; ${wanted[rule.type as 'u32'] ?? 'a list'} was expected`
  return failWith(familyCodes['config-value'], { file, path, message })
}

function typed(type: KeyRule['type'], value: unknown): MetaValue | undefined {
  switch (type) {
    case 'u32':
      return isWhole(value, 0, 0xffff_ffff) ? { type, value } : undefined
    case 'f32':
      return typeof value === 'number' && Number.isFinite(value) ? { type, value } : undefined
    case 'bool':
      return typeof value === 'boolean' ? { type, value } : undefined
    case 'str':
      return typeof value === 'string' ? { type, value } : undefined
    case 'bools':
      return listed(value, (each) => (typeof each === 'boolean' ? { type: 'bool', value: each } : undefined))
    case 'f32s':
      return listed(value, (each) =>
        typeof each === 'number' && !Number.isNaN(each) ? { type: 'f32', value: each } : undefined,
      )
    case 'strs':
      return listed(value, (each) => typed('str', each))
    case 'i32s':
      return listed(value, (each) =>
        isWhole(each, -0x8000_0000, 0x7fff_ffff) ? { type: 'i32', value: each } : undefined,
      )
  }
}

const isWhole = (value: unknown, min: number, max: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max

function listed(value: unknown, item: (each: unknown) => MetaValue | undefined): MetaValue | undefined {
  if (!Array.isArray(value)) return undefined
  const items = value.map(item)
  if (items.length === 0 || items.includes(undefined)) return undefined
  return listOf(items[0]!.type, items as MetaValue[])
}

/** Whether two entries would be stored as the same bytes: numbers of single precision are rounded. */
export function isSameValue(a: MetaValue, b: MetaValue): boolean {
  if (a.type !== b.type) return false
  if (a.type === 'array' && b.type === 'array') return isSameList(a, b)
  if (a.type === 'f32' && b.type === 'f32') return Object.is(Math.fround(a.value), Math.fround(b.value))
  return compareMeta(a, b).sameness === 'same'
}

function isSameList(a: MetaList, b: MetaList): boolean {
  if (a.length !== b.length || a.item !== b.item) return false
  const others = b.values()
  return a.values().every((value, i) => isSameValue(value, others[i]!))
}
