// Tensors whose bytes are stored only once: those that share a payload, or a range of their source.
import type { ByteSource } from '../../../bytes/index.js'
import type { Payload, Tensor } from '../../../model/index.js'

/** For each tensor the position of the first one with the same bytes, which can be its own. `given`: the same tensors in another order. */
export function groupShared(tensors: readonly Tensor[], given: readonly Tensor[]): Uint32Array {
  const owners = Uint32Array.from({ length: tensors.length }, (_, i) => i)
  if (areApart(given)) return owners
  const ranges = new Ranges(tensors.length)
  const payloads = new Map<Payload, number>()
  for (const [i, { data }] of tensors.entries()) {
    const origin = data!.origin
    if (origin) ranges.add(i, origin.source, origin.offset, origin.length)
    else if (tensors.at(i)!.data === data) {
      // A list that makes payloads anew each time has none that two tensors share.
      const known = payloads.get(data!)
      if (known === undefined) payloads.set(data!, i)
      else owners[i] = known
    }
  }
  ranges.group(owners)
  return owners
}

/** Whether each begins behind the beginning of the one before, as in most files: then no two are the same, and there is nothing to sort. */
function areApart(tensors: readonly Tensor[]): boolean {
  const reached = new Map<ByteSource, number>()
  for (const { data } of tensors) {
    const origin = data!.origin
    if (!origin || origin.offset <= (reached.get(origin.source) ?? -1)) return false
    reached.set(origin.source, origin.offset)
  }
  return true
}

/** Ranges of sources, as plain lists of numbers: there can be a million. */
class Ranges {
  readonly #numbers = new Map<ByteSource, number>()
  readonly #sources: Uint32Array
  readonly #offsets: Float64Array
  readonly #lengths: Float64Array
  readonly #positions: Uint32Array
  #count = 0

  constructor(most: number) {
    this.#sources = new Uint32Array(most)
    this.#offsets = new Float64Array(most)
    this.#lengths = new Float64Array(most)
    this.#positions = new Uint32Array(most)
  }

  add(position: number, source: ByteSource, offset: number, length: number): void {
    const number = this.#numbers.get(source) ?? this.#numbers.size
    this.#numbers.set(source, number)
    this.#sources[position] = number
    this.#offsets[position] = offset
    this.#lengths[position] = length
    this.#positions[this.#count++] = position
  }

  /** Gives each range the first position that has the same one. */
  group(owners: Uint32Array): void {
    const order = this.#positions.subarray(0, this.#count).sort((a, b) => this.#compare(a, b) || a - b)
    for (let k = 1; k < order.length; k++) {
      const [before, position] = [order[k - 1]!, order[k]!]
      if (this.#compare(before, position) === 0) owners[position] = owners[before]!
    }
  }

  #compare(a: number, b: number): number {
    return (
      this.#sources[a]! - this.#sources[b]! ||
      this.#offsets[a]! - this.#offsets[b]! ||
      this.#lengths[a]! - this.#lengths[b]!
    )
  }
}
