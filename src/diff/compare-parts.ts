// Parts are matched by kind and name. Their values must agree, and their bytes if they have any. Derived parts follow from the rest of the
// file and are not compared.

import { compareBytes } from '../bytes/index.js'
import { type Vocabulary, vocabularyKind } from '../content/vocabulary.js'
import type { JsonValue, Model, Part } from '../model/index.js'
import { pairBy } from '../model/pair-by.js'
import { sameJson } from '../model/same-meta.js'
import { firstDifferentByte, type Watch } from './compare-bytes.js'
import type { PartDifference } from './types.js'

export interface ComparedParts {
  readonly differences: readonly PartDifference[]
  readonly equal: number
}

export async function compareParts(a: Model, b: Model, watch: Watch = {}): Promise<ComparedParts> {
  const differences: PartDifference[] = []
  let equal = 0
  const keyOf = ({ kind, name }: Part): string => JSON.stringify([kind, name])
  const { pairs, onlyA, onlyB } = pairBy(a.parts.filter(isCompared), b.parts.filter(isCompared), keyOf)
  for (const pair of pairs) {
    const difference = await comparePart(pair.a, pair.b, watch)
    if (difference) differences.push(difference)
    else equal++
  }
  const [missing, extra] = [onlyA.map((part) => lone(part, 'missing')), onlyB.map((part) => lone(part, 'extra'))]
  return { differences: [...missing, ...extra, ...differences], equal }
}

const isCompared = ({ sharing }: Part): boolean => sharing !== 'derived'

const labelOf = ({ kind, name }: Part): Pick<PartDifference, 'kind' | 'name'> => ({
  kind,
  ...(name !== undefined && { name }),
})

function lone(part: Part, change: 'missing' | 'extra'): PartDifference {
  const value: JsonValue = part.value
  return { ...labelOf(part), change, ...(change === 'missing' ? { a: value } : { b: value }) }
}

async function comparePart(a: Part, b: Part, watch: Watch): Promise<PartDifference | undefined> {
  const shown = { ...labelOf(a), a: a.value, b: b.value }
  const token = firstDifferentToken(a, b)
  if (token !== undefined) return { ...shown, change: 'value', first: token }
  if (sameJson(a.value, b.value) !== 'same') return { ...shown, change: 'value' }
  if (!a.data || !b.data) return a.data || b.data ? { ...shown, change: 'bytes' } : undefined
  if (a.data.byteLength !== b.data.byteLength) return { ...shown, change: 'bytes', reason: 'the lengths differ' }
  const found = await firstDifferentByte(a.data, b.data, watch)
  return found < 0 ? undefined : { ...shown, change: 'bytes', first: found }
}

/** Of two vocabularies, the id of the first token that differs. */
function firstDifferentToken(a: Part, b: Part): number | undefined {
  if (a.kind !== vocabularyKind || !a.content || !b.content) return undefined
  const [left, right] = [a.content as Vocabulary, b.content as Vocabulary].map(({ tokens }) => tokens) as [
    readonly Uint8Array[],
    readonly Uint8Array[],
  ]
  const shared = Math.min(left.length, right.length)
  for (let id = 0; id < shared; id++) if (compareBytes(left[id]!, right[id]!) !== 0) return id
  return left.length === right.length ? undefined : shared
}
