// Numbers for people.
import type { Dim } from '../../kit-node.js'

const binaryUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

function scaled(value: number, step: number, units: readonly string[]): string {
  let unit = 0
  while (value >= step && unit < units.length - 1) {
    value /= step
    unit++
  }
  if (unit > 0 && value >= step - 0.5 && unit < units.length - 1) return scaled(step, step, units.slice(unit))
  return `${unit === 0 ? value : value.toFixed(value < 9.95 ? 2 : value < 99.5 ? 1 : 0)} ${units[unit]}`.trim()
}

/** `1.50 KiB` */
export const formatSize = (bytes: number): string => scaled(bytes, 1024, binaryUnits)

/** `1.50 KiB (1,536 bytes)`, to be compared exactly. */
export const formatBytes = (bytes: number): string =>
  bytes < 1024 ? plural(bytes, 'byte') : `${formatSize(bytes)} (${formatInteger(bytes)} bytes)`

/** `6.74 B` for 6,740,000,000 of something. */
export const formatAmount = (count: number): string => scaled(count, 1000, ['', 'K', 'M', 'B', 'T', 'Q'])

/** `1,234,567`. Without `Intl`, which takes 20 ms to load. */
export const formatInteger = (value: number | bigint): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',')

export const formatOffset = (offset: number): string => `0x${offset.toString(16)}`

export const plural = (count: number, word: string): string =>
  `${formatInteger(count)} ${word}${count === 1 ? '' : 's'}`

/** `0:07`, `12:40`, `3:05:00` */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  if (parts[0] === 0) parts.shift()
  return parts.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':')
}

/** A value of a tensor with four significant digits. */
export function formatValue(value: unknown): string {
  if (typeof value !== 'number') return value === null || value === undefined ? '-' : String(value)
  const size = Math.abs(value)
  if (Object.is(value, -0)) return '-0'
  if (Number.isInteger(value) && size < 1e6) return String(value)
  return size >= 1e6 || size < 1e-4
    ? value.toExponential(3).replace(/\.?0*e/, 'e')
    : String(Number(value.toPrecision(4)))
}

export const formatShape = (shape: readonly Dim[]): string => `[${shape.join(', ')}]`
