// Numbers for people.
import { countLabel, sizeLabel } from 'tare/kit'

export { countLabel, sizeLabel }

/** 7,241,732,096 as 7.24 B. */
export function shortCount(count: number): string {
  const units = ['', ' K', ' M', ' B', ' T']
  let unit = 0
  let size = count
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000
    unit++
  }
  return unit === 0 ? String(count) : `${Number(size.toPrecision(3))}${units[unit]}`
}

/** 4096 × 4096 */
export const shapeLabel = (shape: readonly (number | string)[]): string =>
  shape.length === 0 ? 'scalar' : shape.join(' × ')

/** Element types without the family's prefix: `ggml.q4_k` is q4_k to everybody. */
export const typeLabel = (type: string): string => type.replace(/^ggml\./, '')

/** Four significant digits, and never a comma to read wrongly. */
export function valueText(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–'
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '−∞'
  if (value === 0) return '0'
  const size = Math.abs(value)
  const text = size >= 1e6 || size < 1e-4 ? value.toExponential(3) : String(Number(value.toPrecision(4)))
  return text.replace('-', '−').replace('e+', 'e').replace('e-', 'e−')
}

export const hexOffset = (offset: number): string => `0x${offset.toString(16)}`
