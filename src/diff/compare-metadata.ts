import { metaToJson } from '../inspect/inspect.js'
import type { Metadata } from '../model/index.js'
import { compareMeta } from '../model/same-meta.js'
import { closenessOf, type ToleranceOptions } from './tolerance.js'
import type { MetadataDifference } from './types.js'

/** How many items of a long list are shown. */
const listLimit = 8

/** Entries that differ, those of the first model in its order, then those that only the second has. */
export function compareMetadata(a: Metadata, b: Metadata, options: ToleranceOptions = {}): MetadataDifference[] {
  const differences: MetadataDifference[] = []
  const close = closenessOf(options)
  for (const [key, value] of a) {
    const other = b.get(key)
    if (!other) {
      differences.push({ key, change: 'missing', a: metaToJson(value, listLimit) })
      continue
    }
    const { sameness, first } = compareMeta(value, other, close)
    if (sameness === 'same') continue
    const isAllowed = sameness === 'close' || (sameness === 'type' && options.tolerance !== undefined)
    differences.push({
      key,
      change: sameness === 'type' ? 'type' : 'value',
      ...(isAllowed && { close: true }),
      a: metaToJson(value, listLimit),
      b: metaToJson(other, listLimit),
      ...(first !== undefined && { first }),
    })
  }
  for (const [key, value] of b)
    if (!a.has(key)) differences.push({ key, change: 'extra', b: metaToJson(value, listLimit) })
  return differences
}
