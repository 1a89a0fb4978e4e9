// Mean and deviation with the rounding of the OINF reference verifier. It adds in f64, in a fixed order: eight running sums within blocks
// of up to 128 values, then blocks in pairs, then pairs in pairs. The order rarely affects the six printed digits. It does where large
// values cancel out, where all values are (nearly) equal, so that the deviation is pure rounding error, and where squares overflow f64.
import { checkAborted, defaultWindow } from '../bytes/index.js'
import { viewOf } from '../bytes/views.js'
import { bytesPayload, type Payload, readPayload, type Tensor } from '../model/index.js'
import { decodedPayload } from '../transforms/decode.js'
import { typeOf } from './preview.js'
import type { TensorStats } from './stats.js'

export interface Moments {
  readonly mean: number
  readonly std: number
  /** The last zero among the values, which decides the sign of an extreme that is zero. Undefined if there is none. */
  readonly lastZero: number | undefined
}

const blockLength = 128
/** Tensors this short are always summed again. */
const fewValues = 4096
/** Sums are right to more digits than are printed unless they are smaller than the values by this factor. */
const cancelled = 1e-6

/** Mean and deviation in the reference's order, or undefined where the printed digits cannot differ. */
export async function orderedMoments(
  tensor: Tensor,
  stats: TensorStats,
  signal: AbortSignal | undefined,
): Promise<Moments | undefined> {
  const { count, min, max, nan, posInf, negInf } = stats
  if (min === null || max === null || nan + posInf + negInf > 0 || !Number.isFinite(max - min)) return undefined
  if (!mayRound(tensor) || (count > fewValues && !isDelicate(stats))) return undefined
  const decoded = decodedPayload(tensor, 'f64')
  if (!decoded) return undefined
  const payload = count > fewValues ? decoded : bytesPayload(await readPayload(decoded, signal))
  const sum = new OrderedSum(count)
  let lastZero: number | undefined
  await visit(payload, signal, (values) => {
    sum.add(values)
    const at = min === 0 || max === 0 ? values.lastIndexOf(0) : -1
    if (at >= 0) lastZero = values[at]!
  })
  const mean = (0 + sum.total) / count
  const squares = new OrderedSum(count)
  let scratch = new Float64Array(0)
  await visit(payload, signal, (values) => {
    if (scratch.length < values.length) scratch = new Float64Array(values.length)
    for (let i = 0; i < values.length; i++) scratch[i] = (values[i]! - mean) ** 2
    squares.add(scratch.subarray(0, values.length))
  })
  return { mean, std: Math.sqrt((0 + squares.total) / count), lastZero }
}

/** Shorter integers add up without rounding, and the reference does not know block types. */
function mayRound(tensor: Tensor): boolean {
  const { kind, group } = typeOf(tensor)
  return kind === 'float' || ((kind === 'int' || kind === 'uint') && group.bytes / group.elements > 4)
}

/** Whether rounding may show in a long tensor, so that it is worth reading again. */
function isDelicate({ count, min, max, mean, std }: TensorStats): boolean {
  const largest = Math.max(Math.abs(min!), Math.abs(max!))
  if (largest === 0) return false
  // Sums of equal values with at most 24 bits are exact.
  if (min === max && Math.fround(max!) === max && count < 2 ** 29) return false
  const isExtreme = largest > 1e140 || largest < 1e-140
  return isExtreme || Math.abs(mean!) < cancelled * largest || std! < cancelled * largest
}

async function visit(
  payload: Payload,
  signal: AbortSignal | undefined,
  use: (values: Float64Array) => void,
): Promise<void> {
  for await (const chunk of payload.chunks(defaultWindow, signal)) {
    checkAborted(signal, payload.origin?.source.name ?? 'payload')
    use(viewOf(Float64Array, chunk, chunk.byteLength / Float64Array.BYTES_PER_ELEMENT))
  }
}

/** Sums values that arrive in pieces of any length as if they were contiguous. Their number is known in advance. */
export class OrderedSum {
  /** The remaining work, last first: sum this many values, or add the last two sums. */
  readonly #tasks: (number | 'add')[]
  readonly #sums: number[] = []
  readonly #block = new Float64Array(blockLength)
  #filled = 0

  constructor(count: number) {
    this.#tasks = [count]
    this.#open()
  }

  /** Zero before the first value. */
  get total(): number {
    return this.#sums[0] ?? 0
  }

  add(values: Float64Array): void {
    for (let at = 0; at < values.length; ) {
      const wanted = this.#tasks.at(-1) as number
      const length = Math.min(wanted - this.#filled, values.length - at)
      if (length === wanted) this.#close(sumBlock(values.subarray(at, at + length)))
      else {
        this.#block.set(values.subarray(at, at + length), this.#filled)
        this.#filled += length
        if (this.#filled === wanted) this.#close(sumBlock(this.#block.subarray(0, wanted)))
      }
      at += length
    }
  }

  /** Halves the next task until it is a single block. */
  #open(): void {
    for (;;) {
      const count = this.#tasks.at(-1)
      if (typeof count !== 'number' || count <= blockLength) return
      const half = Math.floor(count / 2)
      const first = half - (half % 8)
      this.#tasks.splice(-1, 1, 'add', count - first, first)
    }
  }

  #close(sum: number): void {
    this.#filled = 0
    this.#tasks.pop()
    this.#sums.push(sum)
    while (this.#tasks.at(-1) === 'add') {
      this.#tasks.pop()
      const second = this.#sums.pop()!
      this.#sums.push(this.#sums.pop()! + second)
    }
    this.#open()
  }
}

function sumBlock(values: Float64Array): number {
  const { length } = values
  let sum = 0
  let at = 0
  if (length >= 8) {
    const lanes = values.slice(0, 8)
    for (at = 8; at + 8 <= length; at += 8) for (let lane = 0; lane < 8; lane++) lanes[lane]! += values[at + lane]!
    const [a, b, c, d, e, f, g, h] = lanes as unknown as number[]
    sum = a! + b! + (c! + d!) + (e! + f! + (g! + h!))
  }
  for (; at < length; at++) sum += values[at]!
  return sum
}
