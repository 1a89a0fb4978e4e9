// From numbers to pixels. A table of 256 colours and a scale; one pass over the numbers of a tile.
import { type ColorMap, colorTable, noValue, type Scale } from 'tare/kit'

export interface Palette {
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
  const made = { colors: new Uint32Array(table.buffer, table.byteOffset, table.length / 4), none: packed(noValue) }
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
      pixels[i] =
        at <= 0 && value > Number.NEGATIVE_INFINITY
          ? colors[0]!
          : at < 255
            ? colors[(at + 0.5) | 0]!
            : at < Number.POSITIVE_INFINITY
              ? colors[255]!
              : none
    }
    return
  }
  for (let i = 0; i < pixels.length; i++) {
    const value = numbers[i]!
    pixels[i] = Number.isFinite(value) ? colors[Math.round(255 * scale.place(value))]! : none
  }
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
