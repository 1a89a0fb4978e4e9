// Colour maps. None of them needs red told from green, and all change in lightness too, so they can be read in print and by everyone.
import type { Color } from '../drawing.js'

/** Colours from one end of a scale to the other. */
export interface ColorMap {
  readonly name: string
  /** Two colours that grow from a light middle, or one that grows from dark to light. */
  readonly kind: 'diverging' | 'sequential'
  /** At even distances. */
  readonly stops: readonly Color[]
}

/** All colour maps; none needs red to be told from green. */
export const colorMaps: readonly ColorMap[] = [
  {
    name: 'blue-orange',
    kind: 'diverging',
    stops: [
      [8, 40, 94],
      [33, 102, 172],
      [125, 178, 216],
      [245, 245, 242],
      [244, 172, 104],
      [204, 94, 18],
      [110, 43, 4],
    ],
  },
  {
    name: 'purple-green',
    kind: 'diverging',
    stops: [
      [58, 12, 92],
      [125, 77, 160],
      [195, 170, 215],
      [246, 246, 244],
      [160, 214, 190],
      [34, 136, 112],
      [0, 62, 50],
    ],
  },
  {
    name: 'blue-yellow',
    kind: 'sequential',
    stops: [
      [4, 22, 66],
      [28, 58, 118],
      [74, 92, 124],
      [118, 122, 124],
      [166, 154, 108],
      [216, 192, 82],
      [255, 238, 120],
    ],
  },
  {
    name: 'gray',
    kind: 'sequential',
    stops: [
      [10, 10, 10],
      [250, 250, 250],
    ],
  },
]

/** The colour map of this name, such as `blue-orange`. */
export const colorMapNamed = (name: string): ColorMap | undefined => colorMaps.find((map) => map.name === name)

/** Where there is no value. */
export const noValue: Color = [255, 0, 170]

/** The colour at a place from 0 to 1. */
export function colorAt({ stops }: ColorMap, place: number): Color {
  if (Number.isNaN(place)) return noValue
  const at = Math.min(Math.max(place, 0), 1) * (stops.length - 1)
  const low = Math.min(Math.floor(at), stops.length - 2)
  const [a, b] = [stops[low]!, stops[low + 1]!]
  const part = at - low
  const mix = (i: 0 | 1 | 2): number => Math.round(a[i] + (b[i] - a[i]) * part)
  return [mix(0), mix(1), mix(2)]
}

/** A table of 256 colours, four bytes each, for many pixels. */
export function colorTable(map: ColorMap): Uint8Array {
  const table = new Uint8Array(4 * 256)
  for (let i = 0; i < 256; i++) table.set([...colorAt(map, i / 255), 255], 4 * i)
  return table
}

/** For kinds of things: far apart for every kind of colour vision. Text on them is black or white, see `inkOn`. */
export const categories: readonly Color[] = [
  [0, 114, 178],
  [230, 159, 0],
  [0, 158, 115],
  [204, 121, 167],
  [86, 180, 233],
  [213, 94, 0],
  [240, 228, 66],
  [120, 120, 120],
]

/** The better readable of black and white. */
export function inkOn([red, green, blue]: Color): Color {
  const linear = (part: number): number => (part / 255) ** 2.2
  const light = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
  return light > 0.18 ? [0, 0, 0] : [255, 255, 255]
}
