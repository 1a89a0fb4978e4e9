// Which codes a quantized tensor uses and how often, from a sample of its rows, and the scale of a typical block: its levels are scale · code + offset.
import { readCodes, type Tensor } from 'tare'
import type { Plane } from './tiles.js'

export interface CodeLevels {
  /** The smallest code that occurs; `counts` goes on from there, one code after the other. */
  readonly first: number
  readonly counts: readonly number[]
  /** How many codes were read. */
  readonly count: number
  readonly isSample: boolean
  /** The block whose scale is the median of those that were read. */
  readonly scale: number
  readonly offset: number
}

const bands = 8
const codesPerBand = 2 ** 16
/** Codes are numbers of 16 bits with a sign. */
const smallest = -(2 ** 15)

export async function countCodes(tensor: Tensor, plane: Plane, signal: AbortSignal): Promise<CodeLevels> {
  const { fixed } = plane
  const width = Math.min(plane.columns, codesPerBand)
  const height = Math.max(1, Math.floor(codesPerBand / width))
  const isSample = plane.rows > bands * height || width < plane.columns
  const counts = new Uint32Array(2 ** 16)
  const blocks: (readonly [scale: number, offset: number])[] = []
  let total = 0
  for (const [from, to] of isSample ? spreadRows(plane.rows, height) : [[0, plane.rows] as const]) {
    const part = await readCodes(tensor, { rows: [from, to], columns: [0, width], fixed, signal })
    for (const code of part.codes) counts[code - smallest]!++
    total += part.codes.length
    for (const [i, scale] of part.scales.entries()) blocks.push([scale, part.offsets?.[i] ?? 0])
  }
  let [first, last] = [0, 0]
  for (let i = 0; i < counts.length; i++) {
    if (counts[i] === 0) continue
    first = Math.min(first, i + smallest)
    last = Math.max(last, i + smallest)
  }
  const finite = blocks.filter(([scale]) => Number.isFinite(scale)).sort(([a], [b]) => Math.abs(a) - Math.abs(b))
  const [scale, offset] = finite[Math.floor(finite.length / 2)] ?? [0, 0]
  return {
    first,
    counts: [...counts.subarray(first - smallest, last + 1 - smallest)],
    count: total,
    isSample,
    scale,
    offset,
  }
}

/** Bands from the first row to the last, at equal distances. */
function spreadRows(rows: number, height: number): (readonly [from: number, to: number])[] {
  const count = Math.min(bands, Math.ceil(rows / height))
  return Array.from({ length: count }, (_, i) => {
    const from = count === 1 ? 0 : Math.floor((i * (rows - height)) / (count - 1))
    return [from, Math.min(rows, from + height)] as const
  })
}
