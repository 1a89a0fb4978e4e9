// Figures of tensors as they become known: from a small sample, which is enough to sort and to spot what is odd.

import { type Model, sampleStats, type Tensor } from 'tare/kit'
import { messageOf } from '../../wire.js'

export interface TensorFigures {
  /** False where every value was read. */
  readonly isSample: boolean
  /** Shares of the values that were read would not add up over samples; these are counts. */
  readonly count: number
  readonly nan: number
  readonly infinite: number
  readonly zero: number
  readonly min: number | null
  readonly max: number | null
  readonly mean: number | null
  readonly std: number | null
  /** Counts from the smallest value to the largest. */
  readonly histogram: readonly number[]
}

/** Why there are none. */
export interface NoFigures {
  readonly reason: string
}

const bins = 24
const values = 1 << 16
const bands = 16

const known = new WeakMap<Model, Map<number, TensorFigures | NoFigures>>()

export function figuresOf(model: Model): Map<number, TensorFigures | NoFigures> {
  let found = known.get(model)
  if (!found) {
    found = new Map()
    known.set(model, found)
  }
  return found
}

export const hasFigures = (figures: TensorFigures | NoFigures | undefined): figures is TensorFigures =>
  figures !== undefined && 'count' in figures

export async function computeFigures(
  model: Model,
  index: number,
  signal: AbortSignal,
): Promise<TensorFigures | NoFigures> {
  const all = figuresOf(model)
  const found = all.get(index)
  if (found) return found
  const figures = await sampleOf(model.tensors[index]!, signal)
  all.set(index, figures)
  return figures
}

async function sampleOf(tensor: Tensor, signal: AbortSignal): Promise<TensorFigures | NoFigures> {
  try {
    const { quantiles, total, ...figures } = await sampleStats(tensor, { bins, values, bands, signal })
    return figures
  } catch (error) {
    if (signal.aborted) throw error
    return { reason: messageOf(error) }
  }
}
