// Round numbers along an axis, and numbers as labels.

/** Multiples of 1, 2 or 5 times a power of ten from `low` to `high`, about `count` of them. */
export function ticksBetween(low: number, high: number, count: number): number[] {
  const span = high - low
  if (!(span > 0) || !Number.isFinite(span)) return [low]
  const rough = span / Math.max(1, count)
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10)
  const first = Math.ceil(low / step)
  const last = Math.floor(high / step)
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step)
}

/** The same in whole numbers, for indexes. */
export const indexTicks = (length: number, count: number): number[] =>
  [...new Set(ticksBetween(0, Math.max(0, length - 1), count).map(Math.round))].filter((tick) => tick < length)

/** Three significant digits. */
export function label(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return String(value + 0)
  const size = Math.abs(value)
  if (size >= 1e5 || size < 1e-3) return value.toExponential(2).replace(/\.?0*e\+?/, 'e')
  return String(Number(value.toPrecision(3)))
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

export function sizeLabel(bytes: number): string {
  let unit = 0
  let size = bytes
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024
    unit++
  }
  return `${unit === 0 ? size : Number(size.toPrecision(3))} ${units[unit]}`
}

/** `1,234,567` */
export const countLabel = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',')
