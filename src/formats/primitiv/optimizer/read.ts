// Reads an Optimizer: two maps, of whole numbers and of floats. The reference takes the first of two settings with one name, ignores
// those it does not know, and looks for each in its own map only.
import { compareBytes } from '../../../bytes/index.js'
import type { MetaValue, Part } from '../../../model/index.js'
import type { FieldReader, FloatValue } from '../fields.js'
import { commonFloats, commonUints, optimizerClasses, prefixOf, prereleasePrefix, recogniseClass } from './classes.js'
import { optimizerPart } from './settings.js'

interface Setting {
  readonly type: 'u32' | 'f32'
  readonly value: number
  readonly bits?: bigint
}

type Settings = Map<string, Setting>

export async function readOptimizer(fields: FieldReader): Promise<{ metadata: Map<string, MetaValue>; part: Part }> {
  const start = fields.msgpack.offset
  const uints: Settings = new Map()
  const floats: Settings = new Map()
  const rawKeys = new Map<string, Uint8Array>()
  const repeats = { uints: [] as [string, number][], floats: [] as [string, Setting][] }
  const isTaken = (key: string): boolean => uints.has(key) || floats.has(key)
  for (const [type, map, settings] of [
    ['u32', 'uint_configs', uints] as const,
    ['f32', 'float_configs', floats] as const,
  ]) {
    fields.scope = () => map
    const count = await fields.record(() => fields.container('map', ''))
    for (let i = 0; i < count; i++) {
      await fields.record(() => {
        const at = fields.msgpack.offset
        fields.scope = () => `${map}[${i}]`
        const { text, raw } = fields.name('key')
        fields.scope = () => `${map}[${JSON.stringify(text)}]`
        const setting: Setting = type === 'u32' ? { type, value: fields.uint('') } : floatSetting(fields.float(''))
        const key = raw ? keyOfBytes(text, raw, rawKeys, isTaken) : text
        if (settings.has(key)) {
          fields.say('duplicate-config', at, `${JSON.stringify(key)} stands here again; the first value counts`)
          if (type === 'u32') repeats.uints.push([key, setting.value])
          else repeats.floats.push([key, setting])
          return
        }
        settings.set(key, setting)
        if (raw) rawKeys.set(key, raw)
        checkSetting(fields, key, setting, at)
      })
    }
  }
  checkClass(fields, start, uints, floats)
  fields.commit()
  const metadata = new Map<string, MetaValue>(uints)
  for (const [key, setting] of floats) if (!metadata.has(key)) metadata.set(key, setting)
  const nanBits = new Map([...floats].flatMap(([key, { bits }]) => (bits === undefined ? [] : [[key, bits] as const])))
  const part = optimizerPart({
    uints: new Map([...uints].map(([key, { value }]) => [key, value])),
    floats: new Map([...floats].map(([key, { value }]) => [key, value])),
    ...(repeats.uints.length + repeats.floats.length > 0 && { repeats }),
    ...(nanBits.size > 0 && { nanBits }),
    ...(rawKeys.size > 0 && { rawKeys }),
  })
  return { metadata, part }
}

/** The bits of a NaN are more than the number says. */
const floatSetting = ({ value, bits }: FloatValue): Setting =>
  Number.isNaN(value) ? { type: 'f32', value, bits: BigInt(bits) } : { type: 'f32', value }

/** A key that is not UTF-8 must not be taken for another one that happens to have its text. */
function keyOfBytes(
  text: string,
  raw: Uint8Array,
  rawKeys: ReadonlyMap<string, Uint8Array>,
  isTaken: (key: string) => boolean,
): string {
  let key = text
  const isSame = (known: Uint8Array | undefined): boolean => known !== undefined && compareBytes(known, raw) === 0
  while (isTaken(key) && !isSame(rawKeys.get(key))) key += '~'
  return key
}

function checkSetting(fields: FieldReader, key: string, { type, value }: Setting, at: number): void {
  const isKnownFloat = commonFloats.has(key) || optimizerClasses.get(prefixOf(key))?.has(key) === true
  const shown = JSON.stringify(key)
  if (type === 'u32' ? isKnownFloat : commonUints.has(key))
    fields.say('config-map', at, `${shown} belongs into the other map`)
  else if (commonFloats.has(key) && value < 0)
    fields.say('config-negative', at, `${shown} is ${value}; the reference refuses to set it below 0`)
}

/** What can only be said when all settings are known. */
function checkClass(fields: FieldReader, offset: number, uints: Settings, floats: Settings): void {
  const keys = [...floats.keys(), ...uints.keys()]
  if (keys.some((key) => prefixOf(key) === prereleasePrefix)) {
    const message = `settings begin with "${prereleasePrefix}.", which no release understands`
    fields.say('config-prerelease', offset, message, 'data')
  }
  const name = recogniseClass(keys)
  const known = name === undefined ? undefined : optimizerClasses.get(name)
  if (!known) return
  const missing = [
    ...[...commonUints.keys()].filter((key) => !uints.has(key)),
    ...[...known.keys()].filter((key) => !floats.has(key)),
  ]
  if (missing.length > 0) fields.say('config-missing', offset, `${name} also has ${missing.join(', ')}`, 'data')
}
