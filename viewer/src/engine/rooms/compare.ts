// What the Compare screen asks: how two models differ, and both sides of a place in a tensor.
import { type Difference, diffModels, previewTensor, readWindow } from 'tare/kit'
import type { Call } from '../calls.js'
import type { CallContext, Handlers } from '../serve.js'
import { requireOpened, requireTensorNamed } from './models/opened.js'

/** The rows and columns of a part of a matrix. */
export interface Crop {
  readonly row: number
  readonly column: number
  readonly height: number
  readonly width: number
  /** The index on each axis before the last two. */
  readonly fixed?: readonly number[] | undefined
}

export interface Sides {
  readonly rows: number
  readonly columns: number
  /** Row by row, as f32. */
  readonly a: Float32Array
  readonly b: Float32Array
  /** b − a. */
  readonly difference: Float32Array
  readonly rmse: number
  readonly maxAbs: number
}

interface Pair {
  readonly a: number
  readonly b: number
}

export interface CompareCalls {
  /** Differences beyond `limit` are only counted. */
  compare: Call<Pair & { readonly limit: number }, Difference>
  compareCrop: Call<Pair & { readonly nameA: string; readonly nameB: string; readonly crop: Crop }, Sides>
  /** A small picture of a whole tensor, to choose a place in. */
  compareOverview: Call<
    { readonly model: number; readonly name: string; readonly size: number },
    { readonly rows: number; readonly columns: number; readonly rms: Float64Array }
  >
}

export const compareHandlers: Handlers = { compare, compareCrop, compareOverview }

async function compare(
  { a, b, limit }: CompareCalls['compare']['ask'],
  { signal, progress }: CallContext,
): Promise<Difference> {
  const onProgress = ({ done, total }: { done: number; total: number }): void => progress({ done, total })
  const found = await diffModels(requireOpened(a).model, requireOpened(b).model, { signal, onProgress })
  const cut = <T>(list: readonly T[]): readonly T[] => list.slice(0, limit)
  return { ...found, tensors: cut(found.tensors), metadata: cut(found.metadata), parts: cut(found.parts) }
}

async function compareCrop(ask: CompareCalls['compareCrop']['ask'], { signal, move }: CallContext): Promise<Sides> {
  const { crop } = ask
  const rows = [crop.row, crop.row + crop.height] as const
  const columns = [crop.column, crop.column + crop.width] as const
  const read = (model: number, name: string) =>
    readWindow(requireTensorNamed(model, name), { rows, columns, fixed: crop.fixed, signal })
  const [a, b] = await Promise.all([read(ask.a, ask.nameA), read(ask.b, ask.nameB)])
  const sides = measured(a.data, b.data)
  move(a.data.buffer, b.data.buffer, sides.difference.buffer)
  return { rows: a.rows, columns: a.columns, a: a.data, b: b.data, ...sides }
}

/** Values that are not numbers on either side count for nothing in the sums; the map shows them. */
export function measured(a: Float32Array, b: Float32Array): Pick<Sides, 'difference' | 'rmse' | 'maxAbs'> {
  const difference = new Float32Array(a.length)
  let [sum, count, maxAbs] = [0, 0, 0]
  for (let i = 0; i < a.length; i++) {
    const apart = b[i]! - a[i]!
    difference[i] = apart
    if (!Number.isFinite(apart)) continue
    sum += apart * apart
    count++
    maxAbs = Math.max(maxAbs, Math.abs(apart))
  }
  return { difference, rmse: count === 0 ? 0 : Math.sqrt(sum / count), maxAbs }
}

async function compareOverview(
  { model, name, size }: CompareCalls['compareOverview']['ask'],
  { signal, move }: CallContext,
): Promise<CompareCalls['compareOverview']['answer']> {
  const { rows, columns, rms } = await previewTensor(requireTensorNamed(model, name), size, size, { signal })
  move(rms.buffer)
  return { rows, columns, rms }
}
