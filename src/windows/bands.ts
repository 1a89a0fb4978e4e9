// Bands of rows spread evenly over a tensor, for previews and quick statistics: the same ones each time, a few reads, and each read long enough
// to be worth its trip.
import { checkAborted, releaseWindow, takeEvenWindow } from '../bytes/index.js'
import type { Tensor } from '../model/index.js'
import { fileOf } from './plane.js'
import { openSpans } from './spans.js'

export interface SampleOptions {
  /** How many bands. Default: 32. */
  readonly bands?: number | undefined
  /** How many values are read, about. Default: 2^18. */
  readonly values?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Band {
  /** The first stored element. */
  readonly first: number
  /** Valid until the next band is asked for. */
  readonly values: Float32Array
}

/** The stored order as a matrix: rows of the fastest axis. */
export function storedMatrix({ shape, order }: Tensor): { readonly height: number; readonly width: number } {
  const width = (order === 'row' ? shape.at(-1) : shape[0]) ?? 1
  const count = shape.reduce((product, dim) => product * dim, 1)
  return { width, height: width === 0 ? 0 : count / width }
}

/** Everything in one band where the tensor has no more values than are asked for. */
export async function* sampleBands(
  tensor: Tensor,
  { bands = 32, values: wanted = 1 << 18, signal }: SampleOptions = {},
): AsyncGenerator<Band, void, void> {
  const { height, width } = storedMatrix(tensor)
  const total = height * width
  if (total === 0) return
  const count = total <= wanted ? 1 : Math.max(1, Math.min(bands, height))
  const share = Math.min(total, Math.max(1, Math.floor(wanted / count)))
  // Whole rows, unless even one is more than the share.
  const length = count === 1 && total <= wanted ? total : share >= width ? share - (share % width) : share
  const spans = openSpans(tensor, signal)
  const window = takeEvenWindow(4 * length)
  try {
    const values = new Float32Array(window.buffer, window.byteOffset, length)
    const rows = Math.ceil(length / width)
    for (let band = 0; band < count; band++) {
      checkAborted(signal, fileOf(tensor))
      const middle = Math.floor(((band + 0.5) * height) / count) - Math.floor(rows / 2)
      const first = Math.max(0, Math.min(middle, height - rows)) * width
      await spans.read(first, values)
      yield { first, values }
    }
  } finally {
    releaseWindow(window)
    await spans.close()
  }
}
