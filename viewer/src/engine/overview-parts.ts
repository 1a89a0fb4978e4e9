// The overview of a large plane is made by several workers, some rows of cells each, and put together here.
import type { CellFigure, CountedMoments } from 'tare/kit'
import type { Norms, Overview } from './rooms/tensor/tiles.js'

export interface OverviewPart {
  /** Rows of the plane; the end is exclusive. */
  readonly rows: readonly [from: number, to: number]
  /** Rows of cells over them. */
  readonly height: number
}

/** Cell i of n covers the rows from ⌊i·rows/n⌋ on, so parts can only begin where a cell begins with a whole row. */
export function overviewParts(rows: number, height: number, count: number): OverviewPart[] {
  const units = greatestDivisor(rows, height)
  const parts = Math.max(1, Math.min(units, count))
  const [rowsOf, cellsOf] = [rows / units, height / units]
  return Array.from({ length: parts }, (_, i) => {
    const [from, to] = [Math.round((i * units) / parts), Math.round(((i + 1) * units) / parts)]
    return { rows: [from * rowsOf, to * rowsOf], height: (to - from) * cellsOf }
  })
}

function greatestDivisor(a: number, b: number): number {
  let [one, other] = [a, b]
  while (other > 0) [one, other] = [other, one % other]
  return one
}

/** From the top to the bottom. */
export function joinOverviews(parts: readonly Overview[]): Overview {
  const [first] = parts
  if (parts.length === 1) return first!
  const rows = sum(parts.map((part) => part.rows))
  const join = (of: (part: Overview) => Float32Array): Float32Array => joined(parts.map(of))
  const moments = (figure: CellFigure): CountedMoments => joinMoments(parts.map((part) => part.moments[figure]))
  return {
    rows,
    columns: first!.columns,
    min: join(({ min }) => min),
    max: join(({ max }) => max),
    mean: join(({ mean }) => mean),
    rms: join(({ rms }) => rms),
    isSample: parts.some(({ isSample }) => isSample),
    moments: { min: moments('min'), max: moments('max'), mean: moments('mean'), rms: moments('rms') },
    norms: joinNorms(parts),
  }
}

export function joinMoments(all: readonly CountedMoments[]): CountedMoments {
  const known = all.filter(({ count }) => count > 0)
  const count = sum(known.map((each) => each.count))
  if (count === 0) return { count, min: 0, max: 0, mean: 0, std: 0 }
  const mean = sum(known.map((each) => each.count * each.mean)) / count
  const squares = sum(known.map((each) => each.count * (each.std ** 2 + each.mean ** 2))) / count
  return {
    count,
    min: Math.min(...known.map(({ min }) => min)),
    max: Math.max(...known.map(({ max }) => max)),
    mean,
    std: Math.sqrt(Math.max(0, squares - mean * mean)),
  }
}

/** A column's mean square is that of its parts, by the rows that each has. */
function joinNorms(parts: readonly Overview[]): Norms | undefined {
  const norms = parts.map((part) => part.norms)
  const [first] = norms
  if (!first || norms.includes(undefined)) return undefined
  const rows = sum(parts.map((part) => part.rows))
  const squares = new Float64Array(first.columns.length)
  for (const part of parts) {
    const { columns } = part.norms!
    for (let i = 0; i < columns.length; i++) squares[i]! += (part.rows / rows) * columns[i]! ** 2
  }
  return { rows: joined(parts.map((part) => part.norms!.rows)), columns: Float32Array.from(squares, Math.sqrt) }
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(sum(parts.map(({ length }) => length)))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
