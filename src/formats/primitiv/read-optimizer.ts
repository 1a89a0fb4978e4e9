// Reads an Optimizer: two maps, of whole numbers and of floats. The reference takes the first of two settings with one name, ignores
// those it does not know, and looks for each in its own map only.
import type { MetaValue, Part } from '../../model/index.js'
import type { FieldReader, FloatValue, Name } from './fields.js'
import { optimizerPart } from './optimizer.js'
import {
  commonFloats,
  commonUints,
  optimizerClasses,
  prefixOf,
  prereleasePrefix,
  recogniseClass,
} from './optimizer-classes.js'

const mapNames = { uint: 'uint_configs', float: 'float_configs' } as const

export class OptimizerWalk {
  readonly metadata = new Map<string, MetaValue>()
  readonly #uints = new Map<string, number>()
  readonly #floats = new Map<string, number>()
  readonly #nanBits = new Map<string, bigint>()
  readonly #rawKeys = new Map<string, Uint8Array>()
  readonly #repeats = { uints: [] as [string, number][], floats: [] as [string, Setting][] }
  readonly #fields: FieldReader
  #map: 'uint' | 'float' = 'uint'
  #left = -1
  #index = 0
  #name: Name | undefined

  constructor(fields: FieldReader) {
    this.#fields = fields
    fields.scope = () => this.#scope()
  }

  /** One setting or the head of a map; false behind the last. */
  step(): boolean {
    const fields = this.#fields
    if (this.#left < 0) {
      this.#left = fields.container('map', '')
      this.#index = 0
    } else if (this.#left > 0) this.#readSetting()
    else if (this.#map === 'float') return false
    else {
      this.#map = 'float'
      this.#left = -1
    }
    fields.commit()
    return true
  }

  part(): Part {
    const content = { uints: this.#uints, floats: this.#floats }
    const hasRepeats = this.#repeats.uints.length + this.#repeats.floats.length > 0
    return optimizerPart({
      ...content,
      ...(hasRepeats && { repeats: this.#repeats }),
      ...(this.#nanBits.size > 0 && { nanBits: this.#nanBits }),
      ...(this.#rawKeys.size > 0 && { rawKeys: this.#rawKeys }),
    })
  }

  /** What can only be said when all settings are known. */
  checkClass(offset: number): void {
    const fields = this.#fields
    fields.scope = () => ''
    const keys = [...this.#floats.keys(), ...this.#uints.keys()]
    if (keys.some((key) => prefixOf(key) === prereleasePrefix)) {
      const message = `settings begin with "${prereleasePrefix}.", which no release understands`
      fields.say('config-prerelease', offset, message, 'data')
    }
    const name = recogniseClass(keys)
    const known = name === undefined ? undefined : optimizerClasses.get(name)
    if (!known) return
    const missing = [
      ...[...commonUints.keys()].filter((key) => !this.#uints.has(key)),
      ...[...known.floats.keys()].filter((key) => !this.#floats.has(key)),
    ]
    if (missing.length > 0) {
      fields.say('config-missing', offset, `${known.name} also has ${missing.join(', ')}`, 'data')
    }
  }

  #readSetting(): void {
    const fields = this.#fields
    const at = fields.msgpack.offset
    this.#name = undefined
    const name = fields.name('key')
    this.#name = name
    const key = this.#keyOf(name)
    const seen: ReadonlyMap<string, number> = this.#map === 'uint' ? this.#uints : this.#floats
    const setting: Setting =
      this.#map === 'uint' ? { type: 'u32', value: fields.uint('') } : floatSetting(fields.float(''))
    if (seen.has(key)) {
      fields.say('duplicate-config', at, `${JSON.stringify(key)} stands here again; the first value counts`)
      if (this.#map === 'uint') this.#repeats.uints.push([key, setting.value])
      else this.#repeats.floats.push([key, setting])
    } else {
      this.#keep(key, setting)
      if (name.raw) this.#rawKeys.set(key, name.raw)
      const other = this.#map === 'uint' ? isKnownFloat(key) : commonUints.has(key)
      if (other) fields.say('config-map', at, `${JSON.stringify(key)} belongs into the other map`)
      else if (commonFloats.has(key) && setting.value < 0)
        fields.say(
          'config-negative',
          at,
          `${JSON.stringify(key)} is ${setting.value}; the reference refuses to set it below 0`,
        )
    }
    this.#left--
    this.#index++
    this.#name = undefined
  }

  #keep(key: string, setting: Setting): void {
    if (this.#map === 'uint') this.#uints.set(key, setting.value)
    else this.#floats.set(key, setting.value)
    if (setting.bits !== undefined) this.#nanBits.set(key, setting.bits)
    if (!this.metadata.has(key)) this.metadata.set(key, setting)
  }

  /** A key that is not UTF-8 must not be taken for another one that happens to have its text. */
  #keyOf(name: Name): string {
    if (!name.raw) return name.text
    const isSame = (key: string): boolean => sameBytes(this.#rawKeys.get(key), name.raw!)
    let text = name.text
    while ((this.#uints.has(text) || this.#floats.has(text)) && !isSame(text)) text += '~'
    return text
  }

  #scope(): string {
    const map = mapNames[this.#map]
    if (this.#left < 0) return map
    return `${map}[${this.#name ? JSON.stringify(this.#name.text) : this.#index}]`
  }
}

interface Setting {
  readonly type: 'u32' | 'f32'
  readonly value: number
  readonly bits?: bigint
}

/** The bits of a NaN are more than the number says. */
const floatSetting = ({ value, bits }: FloatValue): Setting =>
  Number.isNaN(value) ? { type: 'f32', value, bits: BigInt(bits) } : { type: 'f32', value }

const isKnownFloat = (key: string): boolean =>
  commonFloats.has(key) || optimizerClasses.get(prefixOf(key))?.floats.has(key) === true

const sameBytes = (a: Uint8Array | undefined, b: Uint8Array): boolean =>
  a !== undefined && a.byteLength === b.byteLength && a.every((byte, i) => byte === b[i])
