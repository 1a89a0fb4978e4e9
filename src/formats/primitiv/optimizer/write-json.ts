// The settings of an optimizer as JSON:
//
//   {"class": "SGD", "uint": {"Optimizer.epoch": 12}, "float": {"SGD.eta": 0.25, …}}
//
// Floats have as few digits as tell them apart from all other 32-bit floats. NaN and the infinities, which JSON lacks, are strings; a NaN
// with more to it than its name gives its bits. Keys that are not UTF-8 stand there as the text that shows them, and `bytes` says what
// they really are.
import { encodeUtf8, toHex } from '../../../bytes/index.js'
import { shortestF32 } from '../../../dtypes/shortest.js'
import { failWith } from '../../../errors/index.js'
import type { Layout, Model } from '../../../model/index.js'
import { settingsCodes as codes } from '../codes.js'
import { recogniseClass } from './classes.js'
import { configsOf, type FloatConfig, findOptimizer } from './settings.js'

export const quietNan = 0x7fc00000n

export async function layoutSettings(model: Model, { name }: { readonly name: string }): Promise<Layout> {
  const text = settingsToJson(model)
  if (text === undefined) {
    const message = 'the model has no settings of an optimizer'
    return failWith(codes['no-settings'], { file: name, path: 'data', message })
  }
  return { files: [{ name, slots: [{ kind: 'bytes', path: 'settings', bytes: encodeUtf8(text) }] }] }
}

/** The settings of a model that has any; undefined otherwise. */
export function settingsToJson(model: Model): string | undefined {
  const configs = configsOf(findOptimizer(model.parts), model.metadata)
  if (!configs) return undefined
  const { uints, floats, rawKeys } = configs
  const members: [string, string][] = [
    ['class', JSON.stringify(recogniseClass([...floats.keys(), ...uints.keys()]) ?? null)],
    ['uint', objectText([...uints].map(([key, value]) => [key, String(value)]))],
    ['float', objectText([...floats].map(([key, value]) => [key, floatText(value)]))],
  ]
  const odd = [...rawKeys].filter(([key]) => uints.has(key) || floats.has(key))
  if (odd.length > 0) members.push(['bytes', objectText(odd.map(([key, raw]) => [key, JSON.stringify(toHex(raw))]))])
  return `{\n${members.map(([key, value]) => `  "${key}": ${value}`).join(',\n')}\n}\n`
}

/** Put together by hand: a JavaScript object would put keys that look like numbers first, and misuse `__proto__`. */
function objectText(members: readonly (readonly [key: string, value: string])[]): string {
  const lines = members.map(([key, value]) => `    ${JSON.stringify(key)}: ${value}`)
  return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n  }`
}

function floatText({ value, bits }: FloatConfig): string {
  if (Number.isNaN(value)) {
    const isPlain = bits === undefined || bits === quietNan
    return isPlain ? '"NaN"' : `"NaN:${bits.toString(16).padStart(8, '0')}"`
  }
  if (!Number.isFinite(value)) return JSON.stringify(String(value))
  if (Object.is(value, -0)) return '-0'
  return String(shortestF32(value))
}
