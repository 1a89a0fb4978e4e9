import { describe, expect, it } from 'vitest'
import { scaleFor, scaleKinds } from '../../../src/kit.js'
import { type Palette, paint } from '../../../viewer/src/colors/paint.js'

/** Every colour another one. */
const palette: Palette = { name: 'all', colors: Uint32Array.from({ length: 256 }, (_, i) => i), none: 256 }

/** The place of a colour in the palette, −1 for the colour of no value. */
function placesIn(numbers: Float32Array, kind: (typeof scaleKinds)[number], min: number, max: number): number[] {
  const scale = scaleFor(kind, { min, max, mean: 0, std: max / 3 })
  const pixels = new Uint32Array(numbers.length)
  paint(numbers, scale, palette, pixels)
  return Array.from(pixels, (pixel) => (pixel === palette.none ? -1 : pixel))
}

const spread = (min: number, max: number): Float32Array =>
  Float32Array.from({ length: 4001 }, (_, i) => min + ((max - min) * i) / 4000)

describe('painting', () => {
  it.each(scaleKinds)('%s is the scale to within one of 255 colours', (kind) => {
    for (const [min, max] of [
      [-1, 1],
      [0, 0.03],
      [-1e-20, 1e20],
      [-1e-35, 1e-35],
    ] as const) {
      const numbers = spread(min, max)
      const scale = scaleFor(kind, { min, max, mean: 0, std: max / 3 })
      for (const [i, place] of placesIn(numbers, kind, min, max).entries())
        expect(Math.abs(place - Math.round(255 * scale.place(numbers[i]!))), `${numbers[i]}`).toBeLessThanOrEqual(1)
    }
  })

  it.each(scaleKinds)('%s has a colour of its own for what is no number', (kind) => {
    const numbers = Float32Array.of(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0)
    expect(placesIn(numbers, kind, -1, 1).map((place) => place < 0)).toEqual([true, true, true, false])
  })
})
