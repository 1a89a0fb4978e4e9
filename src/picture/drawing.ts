// A drawing is a list of shapes, plain data: one part of the room makes drawings, the other turns them into pixels or SVG. Nothing here needs
// a page.

export type Color = readonly [red: number, green: number, blue: number]

/** RGBA, row by row. */
export interface Pixels {
  readonly width: number
  readonly height: number
  readonly data: Uint8ClampedArray<ArrayBuffer>
}

interface Rect {
  readonly kind: 'rect'
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly fill: Color
  /** A border of one pixel, inside. */
  readonly border?: Color | undefined
}

interface Line {
  readonly kind: 'line'
  readonly points: readonly (readonly [x: number, y: number])[]
  readonly color: Color
}

interface Dot {
  readonly kind: 'dot'
  readonly x: number
  readonly y: number
  readonly radius: number
  readonly fill: Color
}

interface Image {
  readonly kind: 'image'
  readonly x: number
  readonly y: number
  /** Pixels are repeated to fill this; whole multiples look best. */
  readonly width: number
  readonly height: number
  readonly pixels: Pixels
}

interface Text {
  readonly kind: 'text'
  readonly x: number
  /** The top of capital letters. */
  readonly y: number
  readonly text: string
  readonly color: Color
  readonly anchor: 'start' | 'middle' | 'end'
  /** 2 for reading, 1 for crowded places. */
  readonly size: 1 | 2
}

export type Shape = Rect | Line | Dot | Image | Text

/** A picture as plain data: `drawPixels`, `encodePng` and `drawSvg` turn it into pixels or a file. */
export interface Drawing {
  readonly width: number
  readonly height: number
  readonly title: string
  /** What the picture shows, for those who cannot see it. */
  readonly description: string
  readonly shapes: readonly Shape[]
}

/** Width and height in pixels. */
export interface PictureSize {
  readonly width: number
  readonly height: number
}

export const defaultSize: PictureSize = { width: 1200, height: 900 }
export const smallestSide = 240
export const largestSide = 8192

export const ink: Color = [32, 33, 36]
export const faint: Color = [95, 99, 104]
export const rule: Color = [200, 203, 207]
export const paper: Color = [255, 255, 255]

/** The width of a character with the space behind it, and the height of a line, at size 1. */
export const advance = 6
export const lineHeight = 10

export const textWidth = (text: string, size: number): number => [...text].length * advance * size

/** Cut in the middle, where names differ least. */
export function fitText(text: string, width: number, size: number): string {
  const room = Math.floor(width / (advance * size))
  const letters = [...text]
  if (letters.length <= room) return text
  if (room < 3) return ''
  const head = Math.ceil((room - 1) / 2)
  return `${letters.slice(0, head).join('')}…${letters.slice(letters.length - (room - 1 - head)).join('')}`
}

export const text = (
  x: number,
  y: number,
  content: string,
  options: { readonly anchor?: Text['anchor']; readonly size?: 1 | 2; readonly color?: Color } = {},
): Text => ({
  kind: 'text',
  x,
  y,
  text: content,
  anchor: options.anchor ?? 'start',
  size: options.size ?? 2,
  color: options.color ?? ink,
})

/** The two lines at the top of every picture. */
export function heading(size: PictureSize, title: string, subtitle: string): Shape[] {
  const room = size.width - 2 * edge
  return [
    text(edge, edge, fitText(title, room, 2)),
    text(edge, edge + 24, fitText(subtitle, room, 2), { color: faint }),
  ]
}

/** The empty border of a picture, and where the content below the heading begins. */
export const edge = 16
export const contentTop = edge + 56
