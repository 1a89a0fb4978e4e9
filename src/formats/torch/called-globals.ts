// Which names a pickle calls: those that stand in the place of a function, and those that are handed to one, which may call them. What is only
// kept in a list, a dictionary or the state of an object is not called.
import { PickleDict, PickleGlobal, PickleList, PickleObject, type PickleValue } from '../../wire/pickle/pickle.js'

export function calledGlobals(calls: readonly PickleObject[]): ReadonlySet<PickleGlobal> {
  const called = new Set<PickleGlobal>()
  const seen = new Set<PickleValue>()
  const open: PickleValue[] = calls.flatMap(({ callee, args }) => [callee, args])
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (value instanceof PickleGlobal) called.add(value)
    if (typeof value !== 'object' || seen.has(value)) continue
    seen.add(value)
    for (const part of partsOf(value)) open.push(part)
  }
  return called
}

function* partsOf(value: PickleValue): Generator<PickleValue, void, void> {
  if (value instanceof PickleList) yield* value.items
  else if (value instanceof PickleDict) {
    for (const entry of value.entries()) yield* entry
  } else if (value instanceof PickleObject) {
    yield* value.items
    yield* partsOf(value.entries)
    if (value.state !== undefined) yield value.state
  }
}
