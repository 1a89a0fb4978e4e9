// A drawing as pixels.
import { advance, type Color, type Drawing, type Pixels, paper, type Shape, textWidth } from '../drawing.js'
import { glyphWidth, rowsOf } from './font.js'

/** Draws into RGBA pixels, for a canvas or a PNG. */
export function drawPixels({ width, height, shapes }: Drawing): Pixels {
  const pixels: Pixels = { width, height, data: new Uint8ClampedArray(4 * width * height) }
  fill(pixels, 0, 0, width, height, paper)
  for (const shape of shapes) draw(pixels, shape)
  return pixels
}

function draw(pixels: Pixels, shape: Shape): void {
  if (shape.kind === 'rect') {
    const { x, y, width, height, border } = shape
    fill(pixels, x, y, x + width, y + height, border ?? shape.fill)
    if (border) fill(pixels, x + 1, y + 1, x + width - 1, y + height - 1, shape.fill)
  } else if (shape.kind === 'line') {
    for (let i = 1; i < shape.points.length; i++) drawLine(pixels, shape.points[i - 1]!, shape.points[i]!, shape.color)
  } else if (shape.kind === 'dot') {
    const { x, y, radius } = shape
    for (let row = -radius; row <= radius; row++) {
      const half = Math.round(Math.sqrt(radius * radius - row * row))
      fill(pixels, x - half, y + row, x + half + 1, y + row + 1, shape.fill)
    }
  } else if (shape.kind === 'image') drawImage(pixels, shape)
  else drawText(pixels, shape)
}

/** Up to, and without, the right and lower edge. Coordinates are rounded, and cut to the picture. */
function fill({ width, height, data }: Pixels, x1: number, y1: number, x2: number, y2: number, color: Color): void {
  const [left, right] = [Math.max(0, Math.round(x1)), Math.min(width, Math.round(x2))]
  const [top, bottom] = [Math.max(0, Math.round(y1)), Math.min(height, Math.round(y2))]
  for (let y = top; y < bottom; y++) {
    for (let at = 4 * (y * width + left), end = 4 * (y * width + right); at < end; at += 4) {
      data[at] = color[0]
      data[at + 1] = color[1]
      data[at + 2] = color[2]
      data[at + 3] = 255
    }
  }
}

type Point = readonly [x: number, y: number]

function drawLine(pixels: Pixels, [x1, y1]: Point, [x2, y2]: Point, color: Color): void {
  const steps = Math.max(1, Math.round(Math.max(Math.abs(x2 - x1), Math.abs(y2 - y1))))
  for (let i = 0; i <= steps; i++) {
    const x = Math.round(x1 + ((x2 - x1) * i) / steps)
    const y = Math.round(y1 + ((y2 - y1) * i) / steps)
    fill(pixels, x, y, x + 1, y + 1, color)
  }
}

function drawImage(pixels: Pixels, image: Extract<Shape, { kind: 'image' }>): void {
  const { x, y, width, height, pixels: source } = image
  for (let row = 0; row < height; row++) {
    const from = Math.floor((row * source.height) / height) * source.width
    for (let column = 0; column < width; column++) {
      const at = 4 * (from + Math.floor((column * source.width) / width))
      const to = 4 * ((y + row) * pixels.width + x + column)
      if (x + column >= pixels.width || y + row >= pixels.height) continue
      for (let k = 0; k < 4; k++) pixels.data[to + k] = source.data[at + k]!
    }
  }
}

function drawText(pixels: Pixels, { x, y, text, anchor, size, color }: Extract<Shape, { kind: 'text' }>): void {
  const width = textWidth(text, size) - size
  let left = Math.round(x - (anchor === 'start' ? 0 : anchor === 'middle' ? width / 2 : width))
  for (const character of text) {
    for (const [row, bits] of rowsOf(character).entries()) {
      for (let column = 0; column < glyphWidth; column++) {
        if (((bits >>> (glyphWidth - 1 - column)) & 1) === 0) continue
        const [px, py] = [left + column * size, Math.round(y) + row * size]
        fill(pixels, px, py, px + size, py + size, color)
      }
    }
    left += advance * size
  }
}
