// A payload converted element by element. It streams in windows that hold whole groups of both types, and supports random access if its
// input does.
import { alignUp, checkRange, defaultWindow, elementsIn, releaseWindow, takeEvenWindow } from '../bytes/index.js'
import type { DType } from '../dtypes/index.js'
import { failWith } from '../errors/index.js'
import { type Payload, type Recipe, rechunked, type Slices } from '../model/index.js'
import { transformCodes } from './codes.js'

type Group = DType['group']

export interface ElementMap {
  readonly input: Payload
  readonly shape: readonly number[]
  readonly from: Group
  readonly to: Group
  /** Converts `count` elements, starting with element `first` of the tensor. The arrays hold exactly these. */
  convert(source: Uint8Array, target: Uint8Array, first: number, count: number): void
  recipe?(): Recipe | undefined
}

const minElements = 1 << 14
/** Of the side with the longer elements. */
const maxBytes = 1 << 20

export function mapElements(elements: ElementMap): Payload {
  const { input, shape, from } = elements
  const count = elementsIn(shape) ?? Number.POSITIVE_INFINITY
  if (input.byteLength !== bytesFor(count, from)) {
    const message = `the shape [${shape.join(', ')}] does not go with ${input.byteLength} bytes`
    failWith(transformCodes['shape-mismatch'], { file: fileOf(input), message })
  }
  return new MappedPayload(elements, undefined)
}

/** Some of the elements, from `base` on, and the bytes that they are made from. */
interface Part {
  readonly input: Payload
  readonly base: number
  readonly count: number
}

/** A class with two fields, since a model can have a million of these: the rest is made when it is asked for. */
class MappedPayload implements Payload {
  readonly #elements: ElementMap
  readonly #part: Part | undefined

  /** Without a part, it is all of them. */
  constructor(elements: ElementMap, part: Part | undefined) {
    this.#elements = elements
    this.#part = part
  }

  get #some(): Part {
    const { input, shape } = this.#elements
    return this.#part ?? { input, base: 0, count: elementsIn(shape)! }
  }

  get byteLength(): number {
    return bytesFor(this.#some.count, this.#elements.to)
  }

  /** A slice has none: it is made of a part of the input. */
  get recipe(): Payload['recipe'] {
    const elements = this.#elements
    return elements.recipe && !this.#part ? () => elements.recipe!() : undefined
  }

  get read(): Payload['read'] {
    if (!this.#some.input.read) return undefined
    return (offset, length, signal) => convertPart(this.#map, offset, length, signal)
  }

  get slices(): Slices | undefined {
    const { from, to } = this.#elements
    const { input, base, count } = this.#some
    const { slices } = input
    const elements = unitOf(this.#elements)
    if (!slices || bytesFor(elements, from) % slices.unit !== 0) return undefined
    const unit = bytesFor(elements, to)
    return {
      unit,
      take: (offset, length) => {
        const first = (offset / unit) * elements
        const some = Math.min(Math.ceil(length / unit) * elements, count - first)
        const part = slices.take(bytesFor(first, from), bytesFor(some, from))
        return new MappedPayload(this.#elements, { input: part, base: base + first, count: some })
      },
    }
  }

  chunks(window: number, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    return rechunked(convertAll(this.#map, window, signal), window)
  }

  get #map(): CountedMap {
    const { from, to } = this.#elements
    const convert: ElementMap['convert'] = (...run) => this.#elements.convert(...run)
    return { ...this.#some, from, to, convert }
  }
}

interface CountedMap extends Pick<ElementMap, 'from' | 'to' | 'convert'>, Part {}

export const fileOf = (payload: Payload | null): string => payload?.origin?.source.name ?? 'tensor'

/** The length of `count` elements that start at a group boundary. */
export function bytesFor(count: number, group: Group): number {
  const rest = count % group.elements
  return ((count - rest) / group.elements) * group.bytes + Math.ceil((rest * group.bytes) / group.elements)
}

async function* convertAll(
  map: CountedMap,
  window: number,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const step = stepFor(map, window)
  // Where values take more room than what they are read from, a read has several steps: each takes a trip, in browsers of milliseconds.
  const stepsPerRead = Math.max(1, Math.floor(window / bytesFor(step, map.from)))
  const target = takeEvenWindow(bytesFor(step, map.to))
  let first = 0
  try {
    for await (const chunk of map.input.chunks(stepsPerRead * bytesFor(step, map.from), signal)) {
      const end = Math.min(map.count, first + stepsPerRead * step)
      requireLength(map, chunk, end - first)
      for (let at = 0; first < end; at += bytesFor(step, map.from)) {
        const count = Math.min(step, end - first)
        const part = target.subarray(0, bytesFor(count, map.to))
        map.convert(chunk.subarray(at, at + bytesFor(count, map.from)), part, map.base + first, count)
        first += count
        yield part
      }
    }
  } finally {
    releaseWindow(target)
  }
}

async function convertPart(map: CountedMap, offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
  checkRange({ name: fileOf(map.input), size: bytesFor(map.count, map.to) }, offset, length)
  const result = new Uint8Array(length)
  if (length === 0) return result
  const step = stepFor(map, defaultWindow)
  const unit = unitOf(map)
  let first = Math.floor(offset / bytesFor(unit, map.to)) * unit
  while (bytesFor(first, map.to) < offset + length) {
    const start = bytesFor(first, map.to)
    const needed = alignUp(Math.ceil(((offset + length - start) / map.to.bytes) * map.to.elements), unit)
    const count = Math.min(step, needed, map.count - first)
    const chunk = await map.input.read!(bytesFor(first, map.from), bytesFor(count, map.from), signal)
    const part = new Uint8Array(bytesFor(count, map.to))
    map.convert(chunk, part, map.base + first, count)
    const skip = Math.max(0, offset - start)
    result.set(part.subarray(skip, offset + length - start), start + skip - offset)
    first += count
  }
  return result
}

/** Elements per piece: about a window of output, within bounds that keep both sides small. */
function stepFor(map: CountedMap, window: number): number {
  const { count, from, to } = map
  const wanted = Math.floor(window / to.bytes) * to.elements
  const max = Math.floor(maxBytes / Math.max(from.bytes / from.elements, to.bytes / to.elements))
  return alignUp(Math.max(1, Math.min(count, max, Math.max(wanted, minElements))), unitOf(map))
}

/** The shortest run that is whole groups on both sides. */
function unitOf({ from, to }: Pick<ElementMap, 'from' | 'to'>): number {
  let [a, b] = [from.elements, to.elements]
  while (b > 0) [a, b] = [b, a % b]
  return (from.elements / a) * to.elements
}

function requireLength(map: CountedMap, chunk: Uint8Array, count: number): void {
  const wanted = bytesFor(count, map.from)
  if (chunk.byteLength === wanted) return
  const message = `${wanted} bytes were expected next, ${chunk.byteLength} came`
  failWith(transformCodes['shape-mismatch'], { file: fileOf(map.input), message })
}
