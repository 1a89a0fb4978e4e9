// Content that a container has no place for is stowed: it travels as JSON text under one metadata key and is restored on the way back. This
// covers metadata of foreign types, parts, and original names, types and annotations of tensors. Other readers see a string and leave it
// alone. The text is ASCII, so every container accepts it; where values must be short it is split into several entries.

import type { TypedJson } from '../content/typed-json.js'
import {
  type Dim,
  type JsonValue,
  type Metadata,
  type MetaValue,
  type QuantParams,
  stowageKey,
} from '../model/index.js'

/** The format that the model was made for, with its version and variant. */
export interface Origin {
  readonly format: string
  readonly version?: string | undefined
  readonly variant?: string | undefined
}

export interface StowedTensor {
  /** The name in the container; absent for a tensor that is only declared, or has no elements. */
  readonly stored?: string
  readonly name?: string
  readonly path?: readonly string[]
  /** In hex, segment by segment. */
  readonly rawName?: readonly string[]
  readonly dtype?: string
  readonly encoding?: string
  readonly shape?: readonly Dim[]
  readonly order?: 'column'
  /** Its bytes are stored in the container as a vector of u8. */
  readonly bytes?: true
  /** Declared without data. */
  readonly absent?: true
  readonly role?: 'state'
  readonly stat?: string
  readonly quant?: StowedQuant
  readonly extra?: Readonly<Record<string, JsonValue>>
}

export interface StowedPart {
  readonly kind: string
  readonly sharing: 'shared' | 'private'
  readonly owner: string
  readonly name?: string
  readonly value: JsonValue
  readonly text?: string
  readonly base64?: string
  readonly content?: JsonValue
}

/** The original value, and the value stored in its place, if any. */
export type StowedEntry = readonly [key: string, own: TypedJson, instead?: TypedJson]

export interface Stowage {
  readonly version: 1
  readonly from: Origin
  readonly metadata?: readonly StowedEntry[]
  /** Keys that the container requires and the model did not have. */
  readonly added?: readonly string[]
  readonly parts?: readonly StowedPart[]
  readonly tensors?: readonly StowedTensor[]
  /** For containers that sort: the sorted position of each key or name, in the model's own order. */
  readonly keyOrder?: readonly number[]
  readonly tensorOrder?: readonly number[]
}

export function encodeStowage(stowage: Stowage): string {
  return JSON.stringify(stowage).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** JSON has no word for NaN, the infinities and negative zero, which scales can be. They are written as texts. */
const oddNumbers: readonly string[] = ['NaN', 'Infinity', '-Infinity', '-0']

const stowedNumber = (value: number): number | string => {
  if (Object.is(value, -0)) return '-0'
  return Number.isFinite(value) ? value : String(value)
}

/** Scales and zero points with every number in a form that JSON keeps. */
export interface StowedQuant extends Omit<QuantParams, 'scales' | 'zeroPoints'> {
  readonly scales: readonly (number | string)[]
  readonly zeroPoints?: readonly (number | string)[]
}

export const stowQuant = (quant: QuantParams): StowedQuant => withNumbers(quant, stowedNumber)
export const restoreQuant = (quant: StowedQuant): QuantParams => withNumbers(quant, Number)

function withNumbers<From extends number | string, To>(
  quant: Omit<QuantParams, 'scales' | 'zeroPoints'> & {
    readonly scales: readonly From[]
    readonly zeroPoints?: readonly From[]
  },
  change: (value: From) => To,
): Omit<QuantParams, 'scales' | 'zeroPoints'> & {
  readonly scales: readonly To[]
  readonly zeroPoints?: readonly To[]
} {
  const { zeroPoints } = quant
  return {
    ...quant,
    scales: quant.scales.map(change),
    ...(zeroPoints && { zeroPoints: zeroPoints.map(change) }),
  } as never
}

/** Whether a key is the stowage key or that of a further piece. A model's own entry with such a key must be stored elsewhere. */
export const isStowageKey = (key: string): boolean =>
  key.startsWith(stowageKey) && /^(\.\d+)?$/.test(key.slice(stowageKey.length))

/** The stowage in metadata, and the metadata without it; undefined if there is none that can be parsed. */
export function findStowage(metadata: Metadata): { stowage: Stowage; rest: Map<string, MetaValue> } | undefined {
  const pieces: string[] = []
  for (let value = metadata.get(stowageKey); value?.type === 'str' && !value.bytes; ) {
    pieces.push(value.value)
    value = metadata.get(`${stowageKey}.${pieces.length}`)
  }
  const stowage = pieces.length > 0 ? parseStowage(pieces.join('')) : undefined
  if (!stowage) return undefined
  const rest = new Map(metadata)
  for (let i = 0; i < pieces.length; i++) rest.delete(i === 0 ? stowageKey : `${stowageKey}.${i}`)
  return { stowage, rest }
}

/** Deeper nesting than any format reads was not written by tare. */
const maxLevels = 512

function isTooDeep(json: string): boolean {
  let level = 0
  let isInText = false
  for (let i = 0; i < json.length; i++) {
    const unit = json.charCodeAt(i)
    if (isInText && unit === backslash) i++
    else if (unit === quote) isInText = !isInText
    else if (isInText) continue
    else if (unit === opening.list || unit === opening.object) level++
    else if (unit === closing.list || unit === closing.object) level--
    if (level > maxLevels) return true
  }
  return false
}

const [quote, backslash] = [0x22, 0x5c]
const opening = { list: 0x5b, object: 0x7b }
const closing = { list: 0x5d, object: 0x7d }

function parseStowage(text: string): Stowage | undefined {
  if (isTooDeep(text)) return undefined
  try {
    const root = JSON.parse(text) as Partial<Stowage>
    const isWhole =
      root?.version === 1 &&
      isOrigin(root.from) &&
      isListOf(root.metadata, isEntry) &&
      isListOf(root.added, isText) &&
      isListOf(root.parts, isPart) &&
      isListOf(root.tensors, isTensor) &&
      isListOf(root.keyOrder, isCount) &&
      isListOf(root.tensorOrder, isCount)
    return isWhole ? (root as Stowage) : undefined
  } catch {
    return undefined
  }
}

type Test = (value: unknown) => boolean
const isText: Test = (value) => typeof value === 'string'
const isCount: Test = (value) => Number.isSafeInteger(value) && (value as number) >= 0
/** Decimal digits beyond 2^53-1. */
const isDim: Test = (value) =>
  isCount(value) || (isText(value) && /^\d{16,20}$/.test(value as string) && BigInt(value as string) < 2n ** 64n)
const isObject: Test = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const isNumber: Test = (value) => typeof value === 'number' || oddNumbers.includes(value as string)

/** Undefined, or a list whose items pass. */
const isListOf = (value: unknown, test: Test): boolean =>
  value === undefined || (Array.isArray(value) && value.every(test))
const isOptional = (value: unknown, test: Test): boolean => value === undefined || test(value)

const isOrigin: Test = (value) => {
  const { format, version, variant } = (value ?? {}) as Partial<Origin>
  return isText(format) && isOptional(version, isText) && isOptional(variant, isText)
}

const isEntry: Test = (value) => Array.isArray(value) && isText(value[0]) && Array.isArray(value[1])

const isPart: Test = (value) => {
  if (!isObject(value)) return false
  const { kind, sharing, owner, name, text, base64 } = value as Partial<StowedPart>
  const isShared = sharing === 'shared' || sharing === 'private'
  return isShared && [kind, owner].every(isText) && [name, text, base64].every((each) => isOptional(each, isText))
}

const isTensor: Test = (value) => {
  if (!isObject(value)) return false
  const { stored, name, path, rawName, dtype, encoding, shape, order, role, stat, quant, extra } = value as StowedTensor
  return (
    [stored, name, dtype, encoding, stat].every((each) => isOptional(each, isText)) &&
    isListOf(path, isText) &&
    isListOf(rawName, isText) &&
    isListOf(shape, isDim) &&
    (order === undefined || order === 'column') &&
    (role === undefined || role === 'state') &&
    isOptional(quant, isQuant) &&
    isOptional(extra, isObject)
  )
}

const isQuant: Test = (value) => {
  if (!isObject(value)) return false
  const { scheme, axis, scales, zeroPoints } = value as Partial<QuantParams>
  const isScheme = scheme === 'symmetric' || scheme === 'asymmetric'
  return (
    isScheme && isOptional(axis, isCount) && !!scales && isListOf(scales, isNumber) && isListOf(zeroPoints, isNumber)
  )
}
