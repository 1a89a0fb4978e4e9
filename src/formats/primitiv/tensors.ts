// From what the file has to what the model shows. A tensor is called by its names, joined with dots, and a statistic by its parameter, a
// hash and its own name. Those texts can coincide: keys and statistics can occur twice, and names may hold dots. Then the tensor that
// the reference would use has the plain name, and a number is put behind the others. `path` and `stat` always say what is stored.
import { encodeUtf8 } from '../../bytes/index.js'
import { f32 } from '../../dtypes/index.js'
import { rangePayload, type Tensor } from '../../model/index.js'
import type { FieldReader, Name } from './fields.js'
import { isBehind, type Key, sortKeys, sortText } from './keys.js'

export interface StoredTensor {
  readonly dims: readonly number[]
  readonly batch: number
  /** Where the data begins. */
  readonly offset: number
  readonly length: number
  /** Whether data and shape agree; a tensor that is not sound was reported and has no place in the model. */
  readonly sound: boolean
}

interface Parameter extends Key {
  /** Where its key begins in the file. */
  readonly at: number
  /** The position of its first tensor in the list. */
  readonly first: number
}

/** Takes tensors as they are read, in file order: each value, and behind it its statistics. */
export class TensorCollector {
  readonly #fields: FieldReader
  readonly #isModel: boolean
  readonly #tensors: Tensor[] = []
  readonly #parameters: Parameter[] = []
  #key: Key = { names: [] }
  /** Names of the statistics of the last parameter, and how often each was there. */
  readonly #stats = new Map<string, number>()
  /** Positions of tensors that others of the same name replace. */
  readonly #shadowed = new Set<number>()
  #isSorted = true
  #isAmbiguous = false
  #isDotted = false

  constructor(fields: FieldReader, isModel: boolean) {
    this.#fields = fields
    this.#isModel = isModel
  }

  value(key: Key, at: number, stored: StoredTensor): void {
    this.#key = key
    if (this.#stats.size > 0) this.#stats.clear()
    if (this.#isNameless()) return
    // Writers sort by key, and then keys that exclude each other are neighbours.
    const before = this.#parameters.at(-1)
    if (before && !isBehind(key, before)) this.#isSorted = false
    if (!this.#isDotted && key.names.some(hasDot)) this.#sayDotted(key, at)
    if (key.raw) this.#isAmbiguous = true // the text that stands for bytes can be another name
    const { names, raw } = key
    this.#parameters.push({ names, raw, at, first: this.#tensors.length })
    if (!stored.sound) return
    this.#tensors.push(this.#tensor(key.names.join('.'), key.raw, stored))
  }

  stat(name: Name, at: number, stored: StoredTensor): void {
    if (this.#isNameless()) return
    const key = this.#key
    const owner = key.names.join('.')
    const repeat = this.#countStat(name)
    if (repeat > 0) {
      const text = JSON.stringify(name.text)
      const message = `the statistic ${text} was there before; the first one counts`
      this.#fields.say('duplicate-stat', at, message, `${this.#scope(key)}stats[${text}].key`)
    }
    if (repeat > 0 || owner.includes('#') || name.raw) this.#isAmbiguous = true
    if (!stored.sound) return
    if (repeat > 0) this.#shadowed.add(this.#tensors.length)
    const tensor = this.#tensor(`${owner}#${name.text}`, rawNameOf(key, name), stored, name.text)
    this.#tensors.push(repeat > 0 ? { ...tensor, extra: { ...tensor.extra, stat_repeat: repeat } } : tensor)
  }

  /** Reports keys that no model can have, and gives every tensor a name of its own. */
  finish(): readonly Tensor[] {
    if (!this.#isSorted) this.#checkKeys()
    if (this.#isAmbiguous || this.#isDotted) this.#makeUnique()
    this.#fields.commit()
    return this.#tensors
  }

  /** Without any name a parameter of a model can be neither shown nor written; that was reported. */
  #isNameless(): boolean {
    return this.#isModel && this.#key.names.length === 0
  }

  #tensor(name: string, rawName: readonly Uint8Array[] | undefined, stored: StoredTensor, stat?: string): Tensor {
    const { dims, batch, offset, length } = stored
    const tensor: Tensor = {
      name,
      path: this.#key.names,
      dtype: f32,
      shape: batch === 1 ? dims : [...dims, batch],
      order: 'column',
      role: stat === undefined ? 'weight' : 'state',
      stat,
      data: rangePayload(this.#fields.source, offset, length),
    }
    if (!rawName && batch === 1) return tensor
    return { ...tensor, ...(rawName && { rawName }), ...(batch > 1 && { extra: { batch } }) }
  }

  #scope({ names }: Key): string {
    return this.#isModel ? `params[${JSON.stringify(names.join('.'))}].` : ''
  }

  #sayDotted(key: Key, at: number): void {
    this.#isDotted = true
    const message = `the key ${JSON.stringify(key.names)} has a dot inside a name; others may as well`
    this.#fields.say('name-separator', at, message, `${this.#scope(key)}key`)
  }

  #countStat(name: Name): number {
    const id = name.raw ? `\ud800${name.text}` : name.text // no UTF-8 text holds half a surrogate pair
    const before = this.#stats.get(id) ?? 0
    this.#stats.set(id, before + 1)
    return before
  }

  #checkKeys(): void {
    const fields = this.#fields
    let previous = -1
    let repeat = 0
    for (const { kind, first, second } of sortKeys(this.#parameters.map(sortText)).conflicts) {
      const [a, b] = [this.#parameters[first]!, this.#parameters[second]!]
      const at = Math.max(a.at, b.at)
      const path = `${this.#scope(b)}key`
      if (kind === 'clash') {
        const message = `${JSON.stringify(a.names)} is a parameter, so no key can go on from there`
        fields.say('key-clash', at, message, path)
        continue
      }
      repeat = first === previous ? repeat + 1 : 1
      previous = second
      this.#shadow(first, repeat)
      fields.say('duplicate-key', at, `the key was there before, at 0x${a.at.toString(16)}; the last counts`, path)
    }
  }

  /** Marks the tensors of a parameter that another one replaces. */
  #shadow(index: number, repeat: number): void {
    this.#isAmbiguous = true
    const end = this.#parameters[index + 1]?.first ?? this.#tensors.length
    for (let i = this.#parameters[index]!.first; i < end; i++) {
      const tensor = this.#tensors[i]!
      this.#tensors[i] = { ...tensor, extra: { ...tensor.extra, repeat } }
      this.#shadowed.add(i)
    }
  }

  #makeUnique(): void {
    const used = new Set<string>()
    const lastNumber = new Map<string, number>()
    const claim = (index: number): boolean => {
      const { name } = this.#tensors[index]!
      if (!used.has(name)) {
        used.add(name)
        return true
      }
      let i = lastNumber.get(name) ?? 1
      do i++
      while (used.has(`${name}~${i}`))
      lastNumber.set(name, i) // counting on from here: a file of equal keys must not make this quadratic
      used.add(`${name}~${i}`)
      this.#tensors[index] = { ...this.#tensors[index]!, name: `${name}~${i}` }
      return false
    }
    for (const [i, { name, path, data }] of this.#tensors.entries()) {
      if (this.#shadowed.has(i) || claim(i)) continue
      const message = `another tensor is called ${JSON.stringify(name)} as well; this one is shown as ${JSON.stringify(this.#tensors[i]!.name)}`
      this.#fields.say('name-ambiguous', data?.origin?.offset ?? 0, message, `params[${JSON.stringify(path)}]`)
    }
    for (const index of [...this.#shadowed].sort((a, b) => a - b)) claim(index)
  }
}

const hasDot = (name: string): boolean => name.includes('.')

/** The bytes of the key's names and of the statistic's name behind them, when one of them is not UTF-8. */
function rawNameOf(key: Key, stat: Name): readonly Uint8Array[] | undefined {
  if (!key.raw && !stat.raw) return undefined
  return [...(key.raw ?? key.names.map(encodeUtf8)), stat.raw ?? encodeUtf8(stat.text)]
}
