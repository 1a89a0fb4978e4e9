// Finding vectors of a lattice. Values are first rounded to digits, component by component. Often these are a vector of the lattice; where not, the
// vectors at the smallest distances from it are candidates, and the one with the smallest weighted error is taken.

const { fround } = Math

export interface Grid {
  /** Components per vector. */
  readonly width: number
  /** How many bits of a key a digit takes. */
  readonly bits: number
  /** All vectors as digits, 0 for the lowest level. */
  readonly digits: Uint8Array
  /** The same as places in `terms`. */
  readonly places: Uint8Array
  /** How many levels there are. */
  readonly radix: number
  /** By key: the index of a vector, or -1. */
  readonly indexes: Int16Array
  /** By key: the candidates, found when they are first needed. */
  readonly candidates: (Uint16Array | undefined)[]
  /** From how many different distances candidates come. */
  readonly distances: number
  /** Whether digits stand for -1, 0 and 1 instead of odd numbers. */
  readonly isCentred: boolean
}

/** Makes a grid at its first use. */
export function lazyGrid(lattice: () => Int8Array, width: 4 | 8, distances: number): () => Grid {
  let grid: Grid | undefined
  return () => {
    grid ??= makeGrid(lattice(), width, distances)
    return grid
  }
}

function makeGrid(lattice: Int8Array, width: 4 | 8, distances: number): Grid {
  const levels = [...new Set(lattice)].sort((a, b) => a - b)
  const digits = Uint8Array.from(lattice, (level) => levels.indexOf(level))
  const bits = width === 8 ? 2 : 3
  const indexes = new Int16Array(1 << (width * bits)).fill(-1)
  const places = digits.map((digit, i) => (i % width) * maxRadix + digit)
  const radix = levels.length
  const isCentred = levels[0]! < 0
  const grid: Grid = { width, bits, digits, places, radix, indexes, candidates: [], distances, isCentred }
  for (let i = 0; i < digits.length / width; i++) indexes[keyOf(grid, digits, i * width)] = i
  return grid
}

/** The digits of a vector in one number, the first component lowest. */
export function keyOf({ width, bits }: Grid, digits: Uint8Array, from: number): number {
  let key = 0
  for (let i = 0; i < width; i++) key |= digits[from + i]! << (bits * i)
  return key
}

/** The vectors nearest to a point that is not in the lattice: by distance, then by index. */
export function candidatesOf(grid: Grid, key: number): Uint16Array {
  const known = grid.candidates[key]
  if (known) return known
  const { width, bits, digits } = grid
  const count = digits.length / width
  const distances = new Uint16Array(count)
  for (let i = 0; i < count; i++) {
    let distance = 0
    for (let k = 0; k < width; k++) {
      const step = digits[i * width + k]! - ((key >>> (bits * k)) & ((1 << bits) - 1))
      distance += step * step
    }
    distances[i] = distance
  }
  const nearest = [...new Set(distances)].sort((a, b) => a - b).slice(0, grid.distances)
  const found = Uint16Array.from(nearest.flatMap((distance) => indexesOf(distances, distance)))
  grid.candidates[key] = found
  return found
}

function indexesOf(distances: Uint16Array, wanted: number): number[] {
  const found: number[] = []
  distances.forEach((distance, i) => {
    if (distance === wanted) found.push(i)
  })
  return found
}

/**
 * The index of the vector for digits that were rounded component by component: its own, or that of the candidate that comes closest. The digits
 * become those of the vector. `levels` are what digits stand for; without them, digit n stands for 2n + 1.
 */
export function nearestVector(
  grid: Grid,
  digits: Uint8Array,
  digitsFrom: number,
  values: Float32Array,
  from: number,
  weights: Float32Array,
  weightsFrom: number,
  scale: number,
  levels?: Float32Array,
): number {
  const key = keyOf(grid, digits, digitsFrom)
  const own = grid.indexes[key]!
  if (own >= 0) return own
  const { width, radix, places } = grid
  for (let i = 0; i < width; i++) {
    const value = values[from + i]!
    const weight = weights[weightsFrom + i]!
    for (let digit = 0; digit < radix; digit++) {
      const rest = fround(fround(scale * (levels ? levels[digit]! : 2 * digit + 1)) - value)
      terms[i * maxRadix + digit] = fround(weight * rest) * rest
    }
  }
  const candidates = candidatesOf(grid, key)
  let nearest = candidates[0]!
  let smallest = 3.4028234663852886e38
  for (let i = 0; i < candidates.length; i++) {
    const first = candidates[i]! * width
    const error = width === 4 ? errorOf4(places, first) : errorOf8(places, first)
    if (!(error < smallest)) continue
    smallest = error
    nearest = candidates[i]!
  }
  for (let i = 0; i < width; i++) digits[digitsFrom + i] = grid.digits[nearest * width + i]!
  return nearest
}

const maxRadix = 8
/** The weighted squared error of each component with each digit: candidates have few of them, in many combinations. */
const terms = new Float32Array(8 * maxRadix)

/** The sum of a vector's terms, from its first component to its last. */
function errorOf4(places: Uint8Array, first: number): number {
  const half = fround(terms[places[first]!]! + terms[places[first + 1]!]!)
  return fround(fround(half + terms[places[first + 2]!]!) + terms[places[first + 3]!]!)
}

function errorOf8(places: Uint8Array, first: number): number {
  let error = errorOf4(places, first)
  for (let i = first + 4; i < first + 8; i++) error = fround(error + terms[places[i]!]!)
  return error
}
