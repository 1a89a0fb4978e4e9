// From numbers to pixels. A table of 256 colours and a scale; one pass over the numbers of a tile.
import { type ColorMap, colorTable, noValue, type Scale } from 'tare/kit'

export interface Palette {
  readonly name: string
  /** Four bytes a colour, as canvases have them. */
  readonly colors: Uint32Array
  readonly none: number
}

const packed = ([red, green, blue]: readonly [number, number, number]): number =>
  new Uint32Array(new Uint8Array([red, green, blue, 255]).buffer)[0]!

const palettes = new Map<string, Palette>()

/** Made once for each map. */
export function paletteOf(map: ColorMap): Palette {
  const known = palettes.get(map.name)
  if (known) return known
  const table = colorTable(map)
  const made = {
    name: map.name,
    colors: new Uint32Array(table.buffer, table.byteOffset, table.length / 4),
    none: packed(noValue),
  }
  palettes.set(map.name, made)
  return made
}

/** Values that are NaN or infinite have a colour of their own. */
export function paint(numbers: ArrayLike<number>, scale: Scale, { colors, none }: Palette, pixels: Uint32Array): void {
  const isLinear = (scale.kind === 'sigma' || scale.kind === 'minmax') && scale.high > scale.low
  if (isLinear) {
    const { low, high } = scale
    const factor = 255 / (high - low)
    for (let i = 0; i < pixels.length; i++) {
      const value = numbers[i]!
      const at = (value - low) * factor
      // A comparison with NaN is false, so it ends in the last branch.
      if (at > 0 && at < 255) pixels[i] = colors[(at + 0.5) | 0]!
      else if (at <= 0 && at > Number.NEGATIVE_INFINITY) pixels[i] = colors[0]!
      else pixels[i] = at < Number.POSITIVE_INFINITY && at > 0 ? colors[255]! : none
    }
    return
  }
  if (numbers instanceof Float32Array && isForTable(scale)) {
    const bits = new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length)
    const places = placesOf(scale)
    for (let i = 0; i < pixels.length; i++) {
      const place = places[bits[i]! >>> 16]!
      pixels[i] = place < 0 ? none : colors[place]!
    }
    return
  }
  for (let i = 0; i < pixels.length; i++) {
    const value = numbers[i]!
    pixels[i] = Number.isFinite(value) ? colors[Math.round(255 * scale.place(value))]! : none
  }
}

/** Logarithms of a million numbers take half a second. Their first 16 bits say enough, unless the numbers are so small that these are 0. */
const isForTable = ({ kind, high }: Scale): boolean => (kind === 'log' || kind === 'exponent') && high > 2 ** -96

const tables = new Map<string, Int16Array>()
const maxTables = 8

/** The colour of a number by its sign, exponent and first bits; −1 for NaN and infinity. */
function placesOf(scale: Scale): Int16Array {
  const key = `${scale.kind} ${scale.low} ${scale.high}`
  const known = tables.get(key)
  if (known) return known
  const places = new Int16Array(2 ** 16)
  const value = new Float32Array(1)
  const bits = new Uint32Array(value.buffer)
  for (let start = 0; start < places.length; start++) {
    // The middle of the numbers that begin so; 0 itself where they begin in nothing.
    bits[0] = (start & 0x7fff) === 0 ? 0 : (start << 16) | 0x8000
    places[start] = Number.isFinite(value[0]) ? Math.round(255 * scale.place(value[0]!)) : -1
  }
  if (tables.size >= maxTables) tables.clear()
  tables.set(key, places)
  return places
}

/** Cells as a picture of their size. */
export function paintCells(
  { rows, columns }: { readonly rows: number; readonly columns: number },
  numbers: ArrayLike<number>,
  scale: Scale,
  palette: Palette,
): OffscreenCanvas {
  const canvas = new OffscreenCanvas(Math.max(1, columns), Math.max(1, rows))
  const image = new ImageData(Math.max(1, columns), Math.max(1, rows))
  paint(numbers, scale, palette, new Uint32Array(image.data.buffer, 0, rows * columns))
  canvas.getContext('2d')!.putImageData(image, 0, 0)
  return canvas
}
