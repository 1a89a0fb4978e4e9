// Bands of rows spread evenly over a tensor, for previews and quick statistics: the same ones each time, a few reads, and each read long enough
// to be worth its trip.
import { checkAborted, releaseWindow, takeEvenWindow } from '../bytes/index.js'
import type { Tensor } from '../model/index.js'
import { fileOf } from './plane.js'
import { openSpans, type Spans } from './spans.js'

/** How much of a tensor a sample takes. */
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
  const isWhole = total <= wanted
  const share = Math.max(1, Math.floor(wanted / bands))
  // Whole rows, unless even one is more than the share: then parts of rows.
  const isByRow = share >= width || height >= bands
  const count = isWhole ? 1 : isByRow ? Math.min(bands, height) : bands
  const each = Math.max(1, Math.floor(wanted / count))
  const length = isWhole ? total : each >= width ? each - (each % width) : each
  const start = (band: number): number => {
    if (!isByRow) return Math.floor(((band + 0.5) * total) / count - length / 2)
    const rows = Math.ceil(length / width)
    return Math.min(Math.floor(((band + 0.5) * height) / count) - Math.floor(rows / 2), height - rows) * width
  }
  const lanes = [makeLane(tensor, length, signal)]
  const atOnce = lanes[0]!.spans.isRandom ? Math.min(readsAtOnce, count) : 1
  while (lanes.length < atOnce) lanes.push(makeLane(tensor, length, signal))
  const read = (band: number): void => {
    const lane = lanes[band % lanes.length]!
    lane.first = Math.max(0, start(band))
    lane.arrival = lane.spans.read(lane.first, lane.values)
    lane.arrival.catch(() => {}) // thrown when it is its turn
  }
  try {
    for (let band = 0; band < lanes.length; band++) read(band)
    for (let band = 0; band < count; band++) {
      checkAborted(signal, fileOf(tensor))
      const { first, values, arrival } = lanes[band % lanes.length]!
      await arrival
      yield { first, values }
      if (band + lanes.length < count) read(band + lanes.length)
    }
  } finally {
    await Promise.allSettled(lanes.map(({ arrival }) => arrival))
    for (const { window, spans } of lanes) {
      releaseWindow(window)
      await spans.close()
    }
  }
}

/** Bands that are on their way together: each is a trip to another process, or to a server. */
const readsAtOnce = 4

interface Lane {
  readonly spans: Spans
  readonly window: Uint8Array
  readonly values: Float32Array
  first: number
  arrival: Promise<void>
}

function makeLane(tensor: Tensor, length: number, signal: AbortSignal | undefined): Lane {
  const window = takeEvenWindow(4 * length)
  const values = new Float32Array(window.buffer, window.byteOffset, length)
  return { spans: openSpans(tensor, signal), window, values, first: 0, arrival: Promise.resolve() }
}
