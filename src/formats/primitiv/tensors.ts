// From what the file has to what the model shows. A tensor is called by its names, joined with dots, and a statistic by its parameter, a
// hash and its own name. Those texts can coincide: keys and statistics can stand twice, and names may hold dots. Then the tensor that
// the reference would use has the plain name, and a number is put behind the others. `path` and `stat` always say what is stored.
import { type ByteSource, encodeUtf8 } from '../../bytes/index.js'
import { NameSet } from '../../bytes/name-set.js'
import { f32 } from '../../dtypes/index.js'
import { type JsonValue, rangePayload, type Tensor } from '../../model/index.js'
import { PackedTensors } from '../../model/packed-tensors.js'
import type { FieldReader, Name } from './fields.js'
import { KeyOrder } from './key-order.js'
import { compareKeys, isPrefix, joinNames, type Key } from './names.js'
import type { ParameterVisitor, StoredTensor } from './read-parameters.js'

/** Takes tensors as they are read, in file order. A file can have a million: nothing is kept for each that is not needed for all. */
export class TensorCollector implements ParameterVisitor {
  readonly #source: ByteSource
  readonly #fields: FieldReader
  readonly #keyed: boolean
  readonly #tensors = new PackedTensors()
  /** Keys of parameters that have no tensor in the list. */
  readonly #unsound = new Map<number, Key>()
  #key: Key | undefined
  /** The joined names of that key. */
  #owner = ''
  /** Where the key of each parameter begins in the file, and its first tensor in the list. */
  #offsets = new Float64Array(16)
  #firsts = new Uint32Array(16)
  #count = 0
  /** Names of the statistics of the last parameter, and how often each was there. */
  #stats = new Map<string, number>()
  readonly #shadowed = new Set<number>()
  #isOrderly = true
  #isAmbiguous = false
  #isDotted = false

  constructor(source: ByteSource, fields: FieldReader, keyed: boolean) {
    this.#source = source
    this.#fields = fields
    this.#keyed = keyed
  }

  value(key: Key, at: number, stored: StoredTensor): void {
    const previous = this.#key
    this.#key = key
    // Writers sort by key, and then keys that get in each other's way are neighbours.
    if (previous && this.#isOrderly) {
      const isDeeper = key.names.length > previous.names.length
      this.#isOrderly = compareKeys(previous, key) < 0 && !(isDeeper && isPrefix(previous, key))
    }
    if (!this.#isDotted && key.names.some(hasDot)) this.#sayDotted(key, at)
    if (key.raw) this.#isAmbiguous = true // the text that stands for bytes can be another name
    this.#owner = joinNames(key.names)
    this.#begin(at)
    if (this.#stats.size > 0) this.#stats = new Map()
    if (!stored.sound) {
      this.#unsound.set(this.#count - 1, key)
      return
    }
    const tensor = this.#tensor(this.#owner, key, stored, undefined)
    this.#tensors.push(key.raw ? { ...tensor, rawName: key.raw } : tensor)
  }

  stat(name: Name, at: number, stored: StoredTensor): void {
    const key = this.#key!
    const owner = this.#owner
    const again = this.#countStat(name)
    if (again > 0) {
      const text = JSON.stringify(name.text)
      const message = `the statistic ${text} was there before; the first one counts`
      this.#fields.say('duplicate-stat', at, message, `${this.#scope(key)}stats[${text}].key`)
      this.#isAmbiguous = true
    }
    if (owner.includes('#') || name.raw) this.#isAmbiguous = true
    if (!stored.sound) return
    if (again > 0) this.#shadowed.add(this.#tensors.length)
    const tensor = this.#tensor(`${owner}#${name.text}`, key, stored, name.text)
    const rawName = rawNameOf(key, name)
    const extra = again > 0 ? { ...tensor.extra, stat_repeat: again } : tensor.extra
    this.#tensors.push(rawName || again > 0 ? { ...tensor, ...(rawName && { rawName }), extra } : tensor)
  }

  /** Reports keys that no model can have, and gives every tensor a name of its own. */
  finish(): readonly Tensor[] {
    if (!this.#isOrderly) this.#checkKeys()
    if (this.#isAmbiguous || this.#isDotted) this.#makeUnique()
    this.#fields.commit()
    return this.#tensors
  }

  #begin(at: number): void {
    if (this.#count === this.#firsts.length) {
      const [offsets, firsts] = [new Float64Array(2 * this.#count), new Uint32Array(2 * this.#count)]
      offsets.set(this.#offsets)
      firsts.set(this.#firsts)
      this.#offsets = offsets
      this.#firsts = firsts
    }
    this.#offsets[this.#count] = at
    this.#firsts[this.#count++] = this.#tensors.length
  }

  #keyAt(index: number): Key {
    const unsound = this.#unsound.get(index)
    if (unsound) return unsound
    const { path, rawName } = this.#tensors.at(this.#firsts[index]!)!
    return { names: path!, raw: rawName }
  }

  #tensor(name: string, key: Key, stored: StoredTensor, stat: string | undefined): Tensor {
    const { dims, batch, offset, length } = stored
    const tensor: Tensor = {
      name,
      path: key.names,
      dtype: f32,
      shape: batch === 1 ? dims : [...dims, batch],
      order: 'column',
      role: stat === undefined ? 'weight' : 'state',
      stat,
      data: rangePayload(this.#source, offset, length),
    }
    return batch === 1 ? tensor : { ...tensor, extra: { batch } }
  }

  #scope({ names }: Key): string {
    return this.#keyed ? `params[${JSON.stringify(names.join('.'))}].` : ''
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
    const keys = new KeyOrder(this.#count, (index) => this.#keyAt(index))
    let previous = -1
    let number = 0
    for (const { kind, first, second } of keys.conflicts()) {
      const firstAt = this.#offsets[first]!
      const at = Math.max(firstAt, this.#offsets[second]!)
      const path = `${this.#scope(this.#keyAt(second))}key`
      if (kind === 'clash') {
        const message = `${JSON.stringify(this.#keyAt(first).names)} is a parameter, so no key can go on from there`
        fields.say('key-clash', at, message, path)
        continue
      }
      number = first === previous ? number + 1 : 1
      previous = second
      this.#shadow(first, number)
      fields.say('duplicate-key', at, `the key was there before, at 0x${firstAt.toString(16)}; the last counts`, path)
    }
  }

  /** Marks the tensors of a parameter that another one replaces. */
  #shadow(index: number, repeat: number): void {
    this.#isAmbiguous = true
    const end = index + 1 < this.#count ? this.#firsts[index + 1]! : this.#tensors.length
    for (let i = this.#firsts[index]!; i < end; i++) {
      const tensor = this.#tensors.at(i)!
      const extra: Record<string, JsonValue> = { ...tensor.extra, repeat }
      this.#tensors.replace(i, { ...tensor, extra })
      this.#shadowed.add(i)
    }
  }

  #makeUnique(): void {
    const used = new NameSet((position) => this.#tensors.nameAt(position))
    const lastNumber = new Map<string, number>()
    const claim = (index: number, name: string): boolean => {
      if (used.add(name, index) === undefined) return true
      let i = lastNumber.get(name) ?? 1
      do i++
      while (used.add(`${name}~${i}`, index) !== undefined)
      lastNumber.set(name, i) // counting on from here: a file of equal keys must not make this quadratic
      this.#tensors.replace(index, { ...this.#tensors.at(index)!, name: `${name}~${i}` })
      return false
    }
    for (let i = 0; i < this.#tensors.length; i++) {
      if (this.#shadowed.has(i)) continue
      const name = this.#tensors.nameAt(i)
      if (claim(i, name)) continue
      const { name: shown, path, data } = this.#tensors.at(i)!
      const message = `another tensor is called ${JSON.stringify(name)} as well; this one is shown as ${JSON.stringify(shown)}`
      this.#fields.say('name-ambiguous', data?.origin?.offset ?? 0, message, `params[${JSON.stringify(path)}]`)
    }
    for (const index of [...this.#shadowed].sort((a, b) => a - b)) claim(index, this.#tensors.nameAt(index))
  }
}

const hasDot = (name: string): boolean => name.includes('.')

/** The bytes of the key's names and of the statistic's name behind them, when one of them is not UTF-8. */
function rawNameOf(key: Key, stat: Name): readonly Uint8Array[] | undefined {
  if (!key.raw && !stat.raw) return undefined
  return [...(key.raw ?? key.names.map(encodeUtf8)), stat.raw ?? encodeUtf8(stat.text)]
}
