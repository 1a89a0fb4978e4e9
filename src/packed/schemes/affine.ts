// Whole numbers with a scale, and a zero point or an offset, for each group of columns.
import type { Members } from '../scheme.js'
import { wholeNumber } from '../settings.js'

/** scale · (code − zero point). */
export function affineRow(
  codes: Uint8Array,
  groups: Int32Array,
  scales: Float32Array,
  zeros: Float64Array,
  values: Float32Array,
): void {
  const count = values.length
  for (let i = 0; i < count; ) {
    const group = groups[i]!
    const [scale, zero] = [scales[group]!, zeros[group]!]
    do {
      values[i] = scale * (codes[i]! - zero)
      i++
    } while (i < count && groups[i] === group)
  }
}

/** `group 128`, from the number that most configurations state. */
export function sharedGroup({ settings }: Pick<Members, 'settings'>): string | undefined {
  const size = wholeNumber(settings, 'group_size')
  return size === undefined ? undefined : size > 0 ? `group ${size}` : 'one scale per row'
}
