// The settings of an optimizer in a model: a part, which other formats can carry, and metadata with the type of each value.
import { compareUtf8 } from '../../../bytes/index.js'
import type { JsonValue, Metadata, MetaValue, Part } from '../../../model/index.js'
import { isKnownSetting, optimizerClasses, recogniseClass } from './classes.js'

const optimizerKind = 'optimizer'
/** The format of settings in a JSON file of their own. */
export const settingsId = 'optimizer-json'

/** What the shared part holds, each map in file order. */
export interface OptimizerContent {
  readonly uints: ReadonlyMap<string, number>
  readonly floats: ReadonlyMap<string, number>
  /** The bits of floats that are NaN, which the number alone would lose. */
  readonly nanBits?: ReadonlyMap<string, bigint>
  /** The bytes of keys that are not UTF-8, by the text that stands for them. */
  readonly rawKeys?: ReadonlyMap<string, Uint8Array>
  /** Settings whose key had come before in the same map; no reader takes them, but a copy has them too. */
  readonly repeats?: Repeats
}

export interface Repeats {
  readonly uints: readonly (readonly [key: string, value: number])[]
  readonly floats: readonly (readonly [key: string, value: FloatConfig])[]
}

const noRepeats: Repeats = { uints: [], floats: [] }

export function optimizerPart(content: OptimizerContent): Part {
  const { uints, floats, repeats } = content
  const value: JsonValue = {
    class: recogniseClass([...floats.keys(), ...uints.keys()]) ?? null,
    uint: plainObject(uints),
    float: plainObject(floats),
    ...(repeats && { repeated: repeats.uints.length + repeats.floats.length }),
  }
  return { kind: optimizerKind, sharing: 'shared', value, content }
}

/** Without a prototype: a setting may be called `__proto__`. JSON has no NaN and no infinities, so those are strings. */
function plainObject(map: ReadonlyMap<string, number>): JsonValue {
  const object = Object.create(null) as Record<string, JsonValue>
  for (const [key, value] of map) object[key] = Number.isFinite(value) ? value : String(value)
  return object
}

export function contentOf(part: Part | undefined): OptimizerContent | undefined {
  if (part?.kind !== optimizerKind) return undefined
  const content = part.content as Partial<OptimizerContent> | undefined
  return content?.uints instanceof Map && content.floats instanceof Map ? (content as OptimizerContent) : undefined
}

export const findOptimizer = (parts: readonly Part[]): OptimizerContent | undefined =>
  contentOf(parts.find((part) => contentOf(part) !== undefined))

export interface FloatConfig {
  readonly value: number
  /** Set for a NaN whose bits are known. */
  readonly bits?: bigint | undefined
}

export interface Configs {
  readonly uints: ReadonlyMap<string, number>
  readonly floats: ReadonlyMap<string, FloatConfig>
  readonly rawKeys: ReadonlyMap<string, Uint8Array>
  readonly repeats: Repeats
}

/**
 * What to write. The part has the order, and can hold one key in both maps; metadata have the last word on values, and a setting that
 * was taken out of them is gone. Where there are no metadata the part stands alone, and the other way round.
 */
export function configsOf(content: OptimizerContent | undefined, metadata: Metadata): Configs | undefined {
  const settings = new Map([...metadata].filter(([key, value]) => isSetting(key, value, content)))
  if (!content && settings.size === 0) return undefined
  const isGone = (key: string): boolean => settings.size > 0 && !settings.has(key)
  const uints = new Map([...(content?.uints ?? [])].filter(([key]) => !isGone(key)))
  const floats = new Map<string, FloatConfig>()
  for (const [key, value] of content?.floats ?? []) {
    if (!isGone(key)) floats.set(key, { value, bits: content?.nanBits?.get(key) })
  }
  const isNew = (key: string): boolean => !uints.has(key) && !floats.has(key)
  const added = inDefaultOrder([...settings.keys()].filter(isNew))
  for (const key of [...[...settings.keys()].filter((each) => !isNew(each)), ...added]) {
    const value = settings.get(key)!
    // A key that both maps have is a whole number among the metadata.
    if (value.type === 'u32' || (value.type === 'str' && uints.has(key))) uints.set(key, numberOf(value))
    else floats.set(key, { value: numberOf(value), bits: value.type === 'f32' ? value.bits : undefined })
  }
  const { uints: uintsAgain, floats: floatsAgain } = content?.repeats ?? noRepeats
  const repeats = {
    uints: uintsAgain.filter(([key]) => uints.has(key)),
    floats: floatsAgain.filter(([key]) => floats.has(key)),
  }
  return { uints, floats, rawKeys: content?.rawKeys ?? new Map(), repeats }
}

/** Typed as in these files; or a text that is a number, under a name that is known, as `--set` gives it. */
function isSetting(key: string, value: MetaValue, content: OptimizerContent | undefined): boolean {
  if (value.type === 'u32' || value.type === 'f32') return true
  if (value.type !== 'str' || value.value.trim() === '' || Number.isNaN(Number(value.value))) return false
  return isKnownSetting(key) || content?.uints.has(key) === true || content?.floats.has(key) === true
}

const numberOf = (value: MetaValue): number => Number((value as { value: number | bigint | string }).value)

/** The order of GNU builds of the reference for the keys of its classes, by bytes for all others. */
function inDefaultOrder(keys: readonly string[]): string[] {
  const known = [...(optimizerClasses.get(recogniseClass(keys) ?? '')?.keys() ?? [])]
  const place = (key: string): number => (known.includes(key) ? known.indexOf(key) : known.length)
  return keys.toSorted((a, b) => place(a) - place(b) || compareUtf8(a, b))
}

/** Settings that another container has carried, checked. */
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
