// The settings of an optimizer as JSON, and back:
//
//   {"class": "SGD", "uint": {"Optimizer.epoch": 12}, "float": {"SGD.eta": 0.25, …}}
//
// Floats have as few digits as tell them apart from all other 32-bit floats. NaN and the infinities, which JSON lacks, are strings; a NaN
// with more to it than its name gives its bits. Settings that a class has and the text lacks get the reference's defaults on the way
// back, since older releases refuse a file without them: `{"class": "Adam"}` is enough for a whole file.
import { type Report, usageCodes } from '../../errors/index.js'
import type { MetaValue, Model } from '../../model/index.js'
import { type JsonNode, type JsonObject, memberPath, parseJson } from '../../wire/json.js'
import { configsOf, type FloatConfig, findOptimizer, optimizerPart } from './optimizer.js'
import { commonUints, optimizerClasses, recogniseClass } from './optimizer-classes.js'

const quietNan = 0x7fc00000n

/** The settings of a model that has any; undefined otherwise. */
export function optimizerToJson(model: Model): string | undefined {
  const configs = configsOf(findOptimizer(model.parts), model.metadata)
  if (!configs) return undefined
  const { uints, floats } = configs
  const name = recogniseClass([...floats.keys(), ...uints.keys()])
  // Built by hand: an object would put keys that look like numbers first, and misuse `__proto__`.
  const members = (map: Iterable<readonly [string, string]>): string => {
    const lines = [...map].map(([key, value]) => `    ${JSON.stringify(key)}: ${value}`)
    return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n  }`
  }
  const uintText = members([...uints].map(([key, value]) => [key, String(value)] as const))
  const floatText = members([...floats].map(([key, value]) => [key, floatJson(value)] as const))
  return `{\n  "class": ${JSON.stringify(name ?? null)},\n  "uint": ${uintText},\n  "float": ${floatText}\n}\n`
}

function floatJson({ value, bits }: FloatConfig): string {
  if (Number.isNaN(value)) {
    const isPlain = bits === undefined || bits === quietNan
    return isPlain ? '"NaN"' : `"NaN:${bits.toString(16).padStart(8, '0')}"`
  }
  if (!Number.isFinite(value)) return JSON.stringify(String(value))
  if (Object.is(value, -0)) return '-0'
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === Math.fround(value)) return String(short)
  }
  return String(Number(value.toPrecision(9)))
}

/** A model with nothing but the settings; `report` gets what is wrong with the text. */
export function optimizerFromJson(bytes: Uint8Array, report: Report): Model {
  const root = parseJson(bytes, report)
  const reader = new SettingsReader(report)
  const object = reader.object(root, '')
  for (const key of object.keys()) {
    if (!['class', 'uint', 'float'].includes(key))
      reader.refuse(memberPath('', key), 'only class, uint and float are known')
  }
  const uints = new Map<string, number>()
  const floats = new Map<string, MetaValue & { type: 'f32' }>()
  for (const [key, node] of reader.object(object.get('uint') ?? new Map(), 'uint')) {
    uints.set(key, reader.uint(node, memberPath('uint', key)))
  }
  for (const [key, node] of reader.object(object.get('float') ?? new Map(), 'float')) {
    floats.set(key, reader.float(node, memberPath('float', key)))
  }
  const stated = object.get('class') ?? null
  const name =
    stated === null || typeof stated === 'string' ? stated : reader.refuse('class', 'a name or null was expected')
  complete(name ?? recogniseClass([...floats.keys(), ...uints.keys()]), uints, floats)
  return toModel(uints, floats)
}

function complete(
  name: string | undefined,
  uints: Map<string, number>,
  floats: Map<string, MetaValue & { type: 'f32' }>,
): void {
  const known = name === undefined ? undefined : optimizerClasses.get(name)
  if (!known) return
  for (const [key, value] of commonUints) if (!uints.has(key)) uints.set(key, value)
  for (const [key, value] of known.floats) if (!floats.has(key)) floats.set(key, { type: 'f32', value })
}

function toModel(uints: Map<string, number>, floats: Map<string, MetaValue & { type: 'f32' }>): Model {
  const metadata = new Map<string, MetaValue>()
  for (const [key, value] of uints) metadata.set(key, { type: 'u32', value })
  for (const [key, value] of floats) if (!metadata.has(key)) metadata.set(key, value)
  const values = new Map([...floats].map(([key, { value }]) => [key, value]))
  const nanBits = new Map([...floats].flatMap(([key, { bits }]) => (bits === undefined ? [] : [[key, bits] as const])))
  const part = optimizerPart({ uints, floats: values, ...(nanBits.size > 0 && { nanBits }) })
  return { format: 'primitiv', version: '0.1', variant: 'optimizer', metadata, tensors: [], parts: [part], files: [] }
}

class SettingsReader {
  readonly #report: Report

  constructor(report: Report) {
    this.#report = report
  }

  refuse(path: string, message: string): never {
    return this.#report.fail(usageCodes.option, { offset: 0, path, message })
  }

  object(node: JsonNode, path: string): JsonObject {
    return node instanceof Map ? node : this.refuse(path, 'an object was expected')
  }

  uint(node: JsonNode, path: string): number {
    if (typeof node === 'number' && Number.isInteger(node) && node >= 0 && node <= 0xffff_ffff) return node
    return this.refuse(path, 'a whole number in 0..4294967295 was expected')
  }

  float(node: JsonNode, path: string): MetaValue & { type: 'f32' } {
    if (typeof node === 'number' || typeof node === 'bigint') {
      const value = Math.fround(Number(node))
      return Number.isFinite(value)
        ? { type: 'f32', value }
        : this.refuse(path, `${node} is beyond what 32 bits can hold`)
    }
    if (node === 'Infinity' || node === '-Infinity') return { type: 'f32', value: Number(node) }
    if (node === 'NaN') return { type: 'f32', value: Number.NaN, bits: quietNan }
    const bits = typeof node === 'string' ? /^NaN:([0-9a-f]{8})$/.exec(node)?.[1] : undefined
    if (bits === undefined) return this.refuse(path, 'a number, "NaN", "Infinity" or "-Infinity" was expected')
    return { type: 'f32', value: Number.NaN, bits: BigInt(`0x${bits}`) }
  }
}
