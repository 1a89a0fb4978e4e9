// Collects content that a target has no place for, and writes it into the target's metadata.
import { compareUtf8 } from '../bytes/index.js'
import { toTypedJson } from '../content/typed-json.js'
import { callerWord, failWith, writeCodes } from '../errors/index.js'
import { formats } from '../formats/index.js'
import {
  type Format,
  isWritable,
  type MetaValue,
  type Model,
  type Part,
  stowageKey,
  type Tensor,
  text,
  type WriteCapabilities,
} from '../model/index.js'
import { areSameTensors } from '../model/tensor-order.js'
import { encodeStowage, type Origin, type StowedEntry, type StowedPart, type StowedTensor } from './document.js'
import { isSorted, orderOf } from './order.js'
import { describePart } from './parts.js'
import { describeTensor } from './tensors.js'

/** If not even pieces this short are accepted, something else is wrong. */
const minPiece = 256

/** Equal content gives equal text, whatever order the container stores it in. */
const sorted = <T>(items: readonly T[], keyOf: (item: T) => string): T[] =>
  items.toSorted((a, b) => compareUtf8(keyOf(a), keyOf(b)))

const nameOf = ({ stored, name }: StowedTensor): string => stored ?? name ?? ''

/** Whether the names are in the order in which a container would sort them. */
function isAscending(tensors: readonly Tensor[]): boolean {
  let last: string | undefined
  for (const { name } of tensors) {
    if (last !== undefined && compareUtf8(last, name) > 0) return false
    last = name
  }
  return true
}

/** What the target gets, in the model's order; `keys` and `names` include stowed ones. */
export interface Contents {
  readonly keys: readonly string[]
  readonly names: readonly string[]
  readonly tensors: readonly Tensor[]
}

export class Stower {
  readonly #source: Model
  readonly #write: WriteCapabilities
  readonly #from: Origin
  readonly #home: Format | undefined
  readonly #target: Format | undefined
  readonly #isHome: boolean
  readonly #metadata: StowedEntry[] = []
  readonly #parts: StowedPart[] = []
  readonly #tensors: StowedTensor[] = []

  /** Undefined if the target has no free-form text either. */
  static for(source: Model, target: string, write: WriteCapabilities): Stower | undefined {
    const isPossible = write.metadata(stowageKey, text('{}')).fits
    return isPossible ? new Stower(source, target, write) : undefined
  }

  private constructor(source: Model, target: string, write: WriteCapabilities) {
    const { format, version, variant, origin } = source
    this.#source = source
    this.#write = write
    this.#from = origin ?? {
      format,
      ...(version !== undefined && { version }),
      ...(variant !== undefined && { variant }),
    }
    this.#home = formats.find((each) => each.id === this.#from.format)
    this.#target = formats.find((each) => each.id === target)
    this.#isHome = this.#from.format === target
  }

  /** Stows a value, with the one stored in its place, if any. */
  metadata(key: string, own: MetaValue, instead?: MetaValue): void {
    this.#metadata.push(instead ? [key, toTypedJson(own), toTypedJson(instead)] : [key, toTypedJson(own)])
  }

  /** Why the part cannot be stowed; undefined if it was. */
  async part(part: Part, signal?: AbortSignal): Promise<string | undefined> {
    const stowed = await describePart(part, this.#from.format, signal)
    if (typeof stowed === 'string') return stowed
    this.#parts.push(stowed)
    return undefined
  }

  /** Stows the differences between a tensor and its stored form; returns their names. */
  tensor(original: Tensor, stored: Tensor | undefined): readonly string[] {
    const stowed = describeTensor(original, stored, {
      isHome: this.#isHome,
      homeKeepsOrder: this.#home?.capabilities.write?.order === 'both',
      keeps: this.#write.keeps ?? [],
    })
    if (!stowed) return []
    this.#tensors.push(stowed)
    return Object.keys(stowed).filter((key) => key !== 'stored')
  }

  /** The metadata entries with the stowage; none if there is nothing to stow. */
  entries({ keys, names, tensors }: Contents, file: string): [string, MetaValue][] {
    const keyOrder = this.#keyOrder(keys)
    const tensorOrder = this.#tensorOrder(names, tensors)
    const added = this.remembersAdded ? (this.#write.addedKeys?.(keys) ?? []) : []
    const items = [this.#metadata, this.#parts, this.#tensors, added, keyOrder, tensorOrder]
    if (items.every((item) => item.length === 0) && !this.#mustNoteHome(keys, tensors)) return []
    const json = encodeStowage({
      version: 1,
      from: this.#from,
      ...(this.#metadata.length > 0 && { metadata: sorted(this.#metadata, ([key]) => key) }),
      ...(added.length > 0 && { added }),
      ...(this.#parts.length > 0 && { parts: sorted(this.#parts, ({ kind, name }) => `${kind} ${name}`) }),
      ...(this.#tensors.length > 0 && { tensors: sorted(this.#tensors, nameOf) }),
      ...(keyOrder.length > 0 && { keyOrder }),
      ...(tensorOrder.length > 0 && { tensorOrder }),
    })
    return this.#place(json, file)
  }

  /** Empty if the order is restored anyway. Stowed keys are then at the end. */
  #keyOrder(keys: readonly string[]): number[] {
    if (!this.#returnsTo('metadata')) return []
    if (this.#metadata.some(([, , instead]) => !instead)) return orderOf(keys)
    const order = this.#write.sorts?.metadata ? orderOf(keys) : []
    return isSorted(order) ? [] : order
  }

  #tensorOrder(names: readonly string[], tensors: readonly Tensor[]): number[] {
    if (!this.#returnsTo('tensors')) return []
    if (this.#tensors.some(({ stored }) => stored === undefined)) return orderOf(names)
    const sorts = this.#write.sorts?.tensors
    if (!sorts) return []
    if (sorts === true) return isAscending(tensors) ? [] : orderOf(names)
    return areSameTensors(sorts(tensors), tensors) ? [] : orderOf(names)
  }

  /** Whether keys that the target adds are removed again when the model is restored. */
  get remembersAdded(): boolean {
    return !this.#isHome && this.#home !== undefined
  }

  /** Whether the model can return to a format that keeps the order of these. */
  #returnsTo(what: 'tensors' | 'metadata'): boolean {
    return this.#hasWayHome && !this.#home?.capabilities.write?.sorts?.[what]
  }

  get #hasWayHome(): boolean {
    return !this.#isHome && this.#home !== undefined && isWritable(this.#home)
  }

  /**
   * A non-default version is restored only if it is noted. Where both formats add entries of their own, restoring must tell them apart; and
   * a format that reorders foreign models must recognize its own.
   */
  #mustNoteHome(keys: readonly string[], tensors: readonly Tensor[]): boolean {
    if (!this.#hasWayHome) return false
    const { plain, defaults, write, writesOneForm } = this.#home!.capabilities
    const isDefault =
      writesOneForm || (defaults?.version === this.#from.version && defaults?.variant === this.#from.variant)
    const target = this.#target?.capabilities
    const isBare = (writesOneForm || target?.writesOneForm) && this.#isBare(keys, tensors)
    const isPlain = plain || target?.plain || isBare
    if (!isDefault || !isPlain || this.#wouldGainAtHome(keys)) return true
    return write?.arranges !== undefined && !areSameTensors(write.arranges(tensors), tensors)
  }

  /** Nothing but tensors, in the order that their own format would put those of a foreign model in. */
  #isBare(keys: readonly string[], tensors: readonly Tensor[]): boolean {
    const sorts = this.#home!.capabilities.write?.sorts?.tensors
    const isInOrder = !sorts || (sorts === true ? isAscending(tensors) : areSameTensors(sorts(tensors), tensors))
    return keys.length === 0 && this.#source.origin === undefined && isInOrder && !tensors.some(({ quant }) => quant)
  }

  /** Whether the home format, taking the model for a foreign one, would add keys that it never had. */
  #wouldGainAtHome(keys: readonly string[]): boolean {
    const stranger = { ...this.#source, parts: [], origin: undefined, version: undefined, variant: undefined }
    const added = this.#home!.capabilities.writeFor?.(stranger, {}).addedKeys?.(keys) ?? []
    return added.length > 0
  }

  /** In one piece if the target accepts it, else in as many as needed. */
  #place(json: string, file: string): [string, MetaValue][] {
    for (let size = json.length; size > 0; size = size > minPiece ? Math.ceil(size / 2) : 0) {
      const pieces = Array.from({ length: Math.ceil(json.length / size) }, (_, i): [string, MetaValue] => [
        i === 0 ? stowageKey : `${stowageKey}.${i}`,
        text(json.slice(i * size, (i + 1) * size)),
      ])
      if (pieces.every(([key, value]) => this.#write.metadata(key, value).fits)) return pieces
    }
    const message = `${json.length} bytes of what has no other place do not fit into the metadata; leave them out with ${callerWord('--no-stow', 'stow: false')}`
    return failWith(writeCodes['not-writable'], { file, path: stowageKey, message })
  }
}
