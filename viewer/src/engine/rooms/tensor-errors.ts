// How far the tensors of one model are from those of the same names in another, from a sample of each: a moment for a screen full of tensors.
import { type Model, readWindow, type Tensor } from 'tare/kit'
import type { Call } from '../calls.js'
import type { CallContext, Handlers } from '../serve.js'
import { requireOpened } from './models/opened.js'
import { tensorIndexOf } from './tensor/tensor.js'

/** Signal to noise in dB, where the noise is what differs; null where the values are equal; undefined where the other has no such tensor. */
export type TensorError = number | null | undefined

export interface TensorErrorCalls {
  tensorErrors: Call<
    { readonly model: number; readonly other: number; readonly names: readonly string[] },
    readonly TensorError[]
  >
}

export const tensorErrorHandlers: Handlers = {
  async tensorErrors({ model, other, names }: TensorErrorCalls['tensorErrors']['ask'], { signal }: CallContext) {
    const [a, b] = [requireOpened(model).model, requireOpened(other).model]
    const found: TensorError[] = []
    for (const name of names) {
      const [mine, its] = [named(a, name), named(b, name)]
      found.push(mine && its && isAlike(mine, its) ? await errorBetween(mine, its, signal) : undefined)
    }
    return found
  },
}

function named(model: Model, name: string): Tensor | undefined {
  const index = tensorIndexOf(model, name)
  return index === undefined ? undefined : model.tensors[index]
}

const isAlike = (a: Tensor, b: Tensor): boolean =>
  a.data !== null &&
  b.data !== null &&
  a.shape.length === b.shape.length &&
  a.shape.every((dim, i) => dim === b.shape[i])

const bands = 6
const valuesPerBand = 2 ** 13

/** Bands of rows over the whole tensor, in each plane that there is room for. Values that are not numbers count for nothing. */
export async function errorBetween(a: Tensor, b: Tensor, signal?: AbortSignal): Promise<TensorError> {
  let [signals, noise] = [0, 0]
  for (const window of sampleWindows(a.shape)) {
    const [x, y] = await Promise.all([readWindow(a, { ...window, signal }), readWindow(b, { ...window, signal })])
    for (const [i, value] of x.data.entries()) {
      const apart = y.data[i]! - value
      if (!Number.isFinite(apart)) continue
      signals += value * value
      noise += apart * apart
    }
  }
  return noise === 0 ? null : 10 * Math.log10(Math.max(signals, Number.MIN_VALUE) / noise)
}

interface Window {
  readonly rows: readonly [number, number]
  readonly columns: readonly [number, number]
  readonly fixed?: readonly number[]
}

function sampleWindows(shape: readonly number[]): Window[] {
  const [rows, columns] = shape.length < 2 ? [1, shape[0] ?? 1] : [shape.at(-2)!, shape.at(-1)!]
  const outer = shape.slice(0, -2)
  const planes = outer.reduce((product, dim) => product * dim, 1)
  if (rows * columns * planes === 0) return []
  const width = Math.min(columns, valuesPerBand)
  const height = Math.min(rows, Math.max(1, Math.floor(valuesPerBand / width)))
  const count = Math.min(bands, planes * Math.ceil(rows / height))
  return Array.from({ length: count }, (_, i) => {
    const share = count === 1 ? 0 : i / (count - 1)
    const top = Math.floor(share * (rows - height))
    const left = Math.floor(share * (columns - width))
    let plane = Math.min(planes - 1, Math.floor(share * planes))
    const fixed = outer.toReversed().map((dim) => {
      const at = plane % dim
      plane = Math.floor(plane / dim)
      return at
    })
    return {
      rows: [top, top + height],
      columns: [left, left + width],
      ...(fixed.length > 0 && { fixed: fixed.reverse() }),
    }
  })
}
