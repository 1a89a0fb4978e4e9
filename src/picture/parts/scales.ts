// From a value to a place between 0 and 1 on a colour map.

export const scaleKinds = ['sigma', 'minmax', 'log', 'sign', 'exponent'] as const
/** What the ends of the colours of a heat map are. */
export type ScaleKind = (typeof scaleKinds)[number]

export interface Scale {
  readonly kind: ScaleKind
  /** The values at the two ends of the colour map; what is beyond has the colour of the end. */
  readonly low: number
  readonly high: number
  /** NaN for NaN. */
  place(value: number): number
  /** The value at a place, for the labels of a colour bar. */
  valueAt(place: number): number
}

export interface Moments {
  readonly min: number
  readonly max: number
  readonly mean: number
  readonly std: number
}

/** With the number of values that they are of. */
export interface CountedMoments extends Moments {
  readonly count: number
}

/** Of the values that are finite; all 0 where there are none. */
export function momentsOf(values: ArrayLike<number>): CountedMoments {
  let [count, min, max, sum, squares] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0]
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!
    if (!Number.isFinite(x)) continue
    count++
    sum += x
    squares += x * x
    if (x < min) min = x
    if (x > max) max = x
  }
  if (count === 0) return { count, min: 0, max: 0, mean: 0, std: 0 }
  const mean = sum / count
  return { count, min, max, mean, std: Math.sqrt(Math.max(0, squares / count - mean * mean)) }
}

/** How far below the largest magnitude the logarithmic scale reaches. */
const decades = 3

/**
 * `sigma`: `k` standard deviations to either side of 0, or of the mean where that is farther than one from 0; values without negatives
 * begin at the smallest. `minmax`: everything. `log`: magnitudes over three decades, with their sign. `sign`: negative, zero, positive.
 * `exponent`: the power of two below the magnitude, over sixteen of them.
 */
export const makeScale = (kind: ScaleKind, values: ArrayLike<number>, k?: number): Scale =>
  scaleFor(kind, momentsOf(values), k)

/** The same where the moments are known. */
export function scaleFor(kind: ScaleKind, { min, max, mean, std }: Moments, k = 3): Scale {
  if (kind === 'sign')
    return { kind, low: -1, high: 1, place: (x) => (Math.sign(x) + 1) / 2, valueAt: (t) => 2 * t - 1 }
  if (kind === 'log') return logScale(min, max)
  if (kind === 'exponent') return exponentScale(min, max)
  if (kind === 'minmax') return linear(kind, min, max)
  const center = Math.abs(mean) > std ? mean : 0
  const low = min >= 0 ? Math.max(min, center - k * std) : center - k * std
  return linear(kind, low, center + k * std)
}

function linear(kind: ScaleKind, low: number, high: number): Scale {
  const width = high - low
  if (!(width > 0)) return { kind, low, high, place: (x) => (Number.isNaN(x) ? x : 0.5), valueAt: () => low }
  return {
    kind,
    low,
    high,
    place: (x) => Math.min(1, Math.max(0, (x - low) / width)),
    valueAt: (t) => low + t * width,
  }
}

function logScale(min: number, max: number): Scale {
  const top = Math.max(Math.abs(min), Math.abs(max))
  if (top === 0) return linear('log', 0, 0)
  const unit = top / 10 ** decades
  const end = Math.log10(1 + top / unit)
  const signed = (x: number): number => (Math.sign(x) * Math.log10(1 + Math.abs(x) / unit)) / end
  const back = (s: number): number => Math.sign(s) * unit * (10 ** (Math.abs(s) * end) - 1)
  if (min >= 0)
    return { kind: 'log', low: 0, high: top, place: (x) => Math.min(1, Math.max(0, signed(x))), valueAt: back }
  return {
    kind: 'log',
    low: -top,
    high: top,
    place: (x) => Math.min(1, Math.max(0, (signed(x) + 1) / 2)),
    valueAt: (t) => back(2 * t - 1),
  }
}

const exponents = 16

/** Steps of one power of two; 0 and everything below the range has the first colour. */
function exponentScale(min: number, max: number): Scale {
  const top = Math.max(Math.abs(min), Math.abs(max))
  if (top === 0) return linear('exponent', 0, 0)
  const last = Math.floor(Math.log2(top))
  const first = last - exponents + 1
  const place = (x: number): number => {
    if (Number.isNaN(x)) return x
    const exponent = x === 0 ? first : Math.floor(Math.log2(Math.abs(x)))
    return Math.min(1, Math.max(0, (exponent - first) / (exponents - 1)))
  }
  const valueAt = (t: number): number => 2 ** (first + Math.round(t * (exponents - 1)))
  return { kind: 'exponent', low: 2 ** first, high: 2 ** last, place, valueAt }
}
