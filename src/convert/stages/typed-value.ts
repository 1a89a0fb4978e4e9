// A text as a value of a type: of the one that is named, or that an entry has already. 32 stays a u32, true a bool, [1,2] a list of what it
// was a list of.
import { callerWord, failWith, usageCodes } from '../../errors/index.js'
import { type JsonValue, listOf, type MetaList, type MetaValue, text } from '../../model/index.js'

/** Throws what the caller reports when a text is not a value of the type. */
type Refuse = (message: string) => never

/** A metadata entry to set. The type is one of `settableTypes`, or a list of one: `[u32]`. Without it an entry that is there keeps its own. */
export type Setting = readonly [key: string, value: string, type?: string | undefined]

export const settableTypes: readonly MetaValue['type'][] = [
  ...(['u8', 'u16', 'u32', 'u64', 'i8', 'i16', 'i32', 'i64'] as const),
  ...(['f32', 'f64', 'bool', 'str'] as const),
]

/** What people write who mean a type, but none of ours: `int`, `uint32`, `float`, `string`, `f23`. */
const likeType = /^(?:[uif]\d+|bf\d+|u?int\d*|float\d*|double|string|boolean)$/i

/** `key:u32` is the key and a type. Keys may hold colons: what follows the last one counts only if it is a type. */
export function settingOf(keyAndType: string, value: string): Setting {
  const colon = keyAndType.lastIndexOf(':')
  const [key, type] = [keyAndType.slice(0, colon), keyAndType.slice(colon + 1)]
  if (colon <= 0) return [keyAndType, value]
  const item = itemOf(type) ?? type
  if ((settableTypes as readonly string[]).includes(item)) return [key, value, type]
  if (likeType.test(item)) {
    const message = `there is no type ${item}; there are ${settableTypes.join(', ')} (if the key ends with it, add the type: ${keyAndType}:str)`
    failWith(usageCodes.option, { file: callerWord('--set', 'set'), message })
  }
  return [keyAndType, value]
}

/** `u32` for `[u32]`; undefined where it is not a list. */
const itemOf = (type: string): string | undefined => /^\[(.+)\]$/.exec(type)?.[1]

/** For reports: the type of a value, unless it is text. */
export function typeToName(value: MetaValue): { readonly type?: string } {
  if (value.type === 'str') return {}
  return { type: value.type === 'array' ? `[${value.item}]` : value.type }
}

/** A text as a value of one of `settableTypes`, or as a list of them: `1,2,3` or `[1, 2, 3]`. */
function parseTyped(type: string, value: string, refuse: Refuse): MetaValue {
  const item = itemOf(type)
  const known = settableTypes.find((each) => each === (item ?? type))
  if (!known) return refuse(`there is no type ${type}; there are ${settableTypes.join(', ')}`)
  if (item === undefined) return parsePlain(known, value, refuse)
  if (value.trimStart().startsWith('[')) return parseList({ item: known }, value, refuse)
  const items = value.trim() === '' ? [] : value.split(',')
  return listOf(
    known,
    items.map((each) => parsePlain(known, known === 'str' ? each : each.trim(), refuse)),
  )
}

/** What an entry is set to: a value of the type that is named, else of the type of the old value, else text. */
export function parseSetting(
  value: string,
  type: string | undefined,
  old: MetaValue | undefined,
  refuse: Refuse,
): MetaValue {
  if (type !== undefined) return parseTyped(type, value, refuse)
  return !old || old.type === 'null' ? text(value) : parseAs(old, value, refuse)
}

function parseAs(old: MetaValue, value: string, refuse: Refuse): MetaValue {
  if (old.type === 'array') return parseList(old, value, refuse)
  return parsePlain(old.type, value, refuse)
}

function parsePlain(type: MetaValue['type'] | 'mixed', value: string, refuse: Refuse): MetaValue {
  const integer = /^([uit])(\d+)$/.exec(type)
  if (integer) return parseInteger(type, integer[1] === 'u', Number(integer[2]), value, refuse)
  switch (type) {
    case 'str':
    case 'null':
      return text(value)
    case 'bool':
      return { type, value: parseBool(value, refuse) }
    case 'f64':
    case 'f32':
    case 'f16':
    case 'bf16':
    case 'f8_e5m2':
      return { type, value: parseFloatText(type, value, refuse) }
    case 'json':
      return { type, value: parseJson(value, refuse) }
    default:
      return refuse(`it is ${type}, which cannot be given as text; unset it first`)
  }
}

function parseInteger(type: string, isUnsigned: boolean, bits: number, value: string, refuse: Refuse): MetaValue {
  if (!/^[+-]?\d+$/.test(value)) return refuse(`${JSON.stringify(value)} is not a whole number, and it is ${type}`)
  const number = BigInt(value.replace(/^\+/, ''))
  // Ternary types hold -1, 0 and 1, however many bits those take.
  const [low, high] = type.startsWith('t')
    ? [-1n, 1n]
    : isUnsigned
      ? [0n, 2n ** BigInt(bits) - 1n]
      : [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n]
  if (number < low || number > high) return refuse(`${number} does not fit ${type}, which holds ${low} to ${high}`)
  return { type, value: bits > 32 ? number : Number(number) } as MetaValue
}

function parseBool(value: string, refuse: Refuse): boolean {
  if (value === 'true' || value === '1') return true
  if (value === 'false' || value === '0') return false
  return refuse(`${JSON.stringify(value)} is neither true nor false`)
}

const maxOf: Readonly<Record<string, number>> = {
  f32: 3.4028234663852886e38,
  f16: 65504,
  bf16: 3.3895313892515355e38,
  f8_e5m2: 57344,
}

function parseFloatText(type: string, value: string, refuse: Refuse): number {
  const number = value.trim() === '' ? Number.NaN : Number(value)
  if (!Number.isFinite(number)) return refuse(`${JSON.stringify(value)} is not a finite number, and it is ${type}`)
  if (Math.abs(number) > (maxOf[type] ?? Number.MAX_VALUE)) return refuse(`${value} is too large for ${type}`)
  return type === 'f32' ? Math.fround(number) : number
}

function parseList(old: Pick<MetaList, 'item'>, value: string, refuse: Refuse): MetaValue {
  const items = parseJson(value, refuse)
  if (!Array.isArray(items)) return refuse(`it is a list of ${old.item}; write it as [1, 2]`)
  if (old.item === 'mixed' || old.item === 'array') return refuse('a list of lists cannot be given as text')
  const itemType = old.item
  return listOf(
    itemType,
    items.map((item: JsonValue) =>
      itemType === 'json'
        ? { type: 'json', value: item }
        : parsePlain(itemType, typeof item === 'string' ? item : JSON.stringify(item), refuse),
    ),
  )
}

function parseJson(value: string, refuse: Refuse): JsonValue {
  try {
    return JSON.parse(value) as JsonValue
  } catch (error) {
    return refuse(`it is JSON, and this is not: ${(error as Error).message}`)
  }
}
