// The settings of an optimizer that another container has carried.
import type { Part } from '../../model/index.js'
import { contentOf, type FloatConfig, optimizerPart, type Repeats } from './optimizer.js'

export function restorePart(part: Part): Part | undefined {
  const content = contentOf(part)
  if (!content) return undefined
  const { uints, floats, nanBits, rawKeys, repeats } = content
  const isWhole =
    isMap(uints, isU32) &&
    isMap(floats, isNumber) &&
    (nanBits === undefined || isMap(nanBits, (value) => typeof value === 'bigint')) &&
    (rawKeys === undefined || isMap(rawKeys, (value) => value instanceof Uint8Array)) &&
    (repeats === undefined || isRepeats(repeats))
  return isWhole ? optimizerPart(content) : undefined
}

type Test = (value: unknown) => boolean
const isNumber: Test = (value) => typeof value === 'number'
const isU32: Test = (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32
const isMap = (map: unknown, test: Test): boolean =>
  map instanceof Map && [...map].every(([key, value]) => typeof key === 'string' && test(value))

function isRepeats({ uints, floats }: Partial<Repeats>): boolean {
  const isPair = (pair: unknown, test: Test): boolean =>
    Array.isArray(pair) && typeof pair[0] === 'string' && test(pair[1])
  const isFloat: Test = (value) => isNumber((value as Partial<FloatConfig> | null)?.value)
  return (
    Array.isArray(uints) &&
    Array.isArray(floats) &&
    uints.every((pair) => isPair(pair, isU32)) &&
    floats.every((pair) => isPair(pair, isFloat))
  )
}
