// The colours of bytes: fields, weights, padding, and bytes that nothing claims. They differ in lightness, too.
import type { ByteKind } from '../../engine/rooms/bytes/byte-kinds.js'

type Color = readonly [red: number, green: number, blue: number]

const colors: Readonly<Record<ByteKind, readonly [light: Color, dark: Color]>> = {
  field: [
    [0, 92, 150],
    [86, 180, 233],
  ],
  data: [
    [240, 190, 90],
    [150, 108, 20],
  ],
  padding: [
    [200, 204, 210],
    [70, 76, 86],
  ],
  gap: [
    [190, 60, 120],
    [230, 120, 175],
  ],
}

export const kindColor = (kind: ByteKind, isDark: boolean): Color => colors[kind][isDark ? 1 : 0]

export const kindTitles: Readonly<Record<ByteKind, string>> = {
  field: 'fields',
  data: 'weights',
  padding: 'padding',
  gap: 'not claimed',
}
