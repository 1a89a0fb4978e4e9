// A drawing as SVG. Texts are escaped, images are PNG inside; no script, no style sheet, nothing to load.
import { advance, type Color, type Drawing, paper, type Shape } from '../drawing.js'
import { encodePng } from './png.js'

/** Draws as the text of an SVG file, without scripts or anything to load. */
export async function drawSvg({ width, height, title, description, shapes }: Drawing): Promise<string> {
  const lines: string[] = []
  for (const shape of shapes) lines.push(await markupOf(shape))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="ui-monospace, Menlo, Consolas, monospace">`,
    `<title>${escapeXml(title)}</title>`,
    `<desc>${escapeXml(description)}</desc>`,
    `<rect width="${width}" height="${height}" fill="${hex(paper)}"/>`,
    ...lines,
    '</svg>',
    '',
  ].join('\n')
}

async function markupOf(shape: Shape): Promise<string> {
  if (shape.kind === 'rect') {
    const { x, y, width, height, border } = shape
    const place = border
      ? `x="${round(x + 0.5)}" y="${round(y + 0.5)}" width="${round(Math.max(0, width - 1))}" height="${round(Math.max(0, height - 1))}" stroke="${hex(border)}"`
      : `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"`
    return `<rect ${place} fill="${hex(shape.fill)}"/>`
  }
  if (shape.kind === 'line') {
    const points = shape.points.map(([x, y]) => `${round(x + 0.5)},${round(y + 0.5)}`).join(' ')
    return `<polyline points="${points}" fill="none" stroke="${hex(shape.color)}"/>`
  }
  if (shape.kind === 'dot')
    return `<circle cx="${round(shape.x + 0.5)}" cy="${round(shape.y + 0.5)}" r="${shape.radius}" fill="${hex(shape.fill)}"/>`
  if (shape.kind === 'image') {
    const { x, y, width, height, pixels } = shape
    const png = toBase64(await encodePng(pixels))
    return `<image x="${x}" y="${y}" width="${width}" height="${height}" preserveAspectRatio="none" image-rendering="pixelated" href="data:image/png;base64,${png}"/>`
  }
  const { x, y, text, anchor, size, color } = shape
  // Characters of a monospaced font are 0.6 of its size wide; capital letters begin at the top.
  const fontSize = (advance * size) / 0.6
  return `<text x="${round(x)}" y="${round(y + 7 * size)}" font-size="${fontSize}" text-anchor="${anchor}" fill="${hex(color)}" xml:space="preserve">${escapeXml(text)}</text>`
}

const round = (value: number): number => Math.round(value * 100) / 100

const hex = (color: Color): string => `#${color.map((part) => part.toString(16).padStart(2, '0')).join('')}`

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Also takes out what XML cannot hold. */
export const escapeXml = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '\ufffd').replace(/[&<>"']/g, (character) => entities[character]!)

const perCall = 0x6000

function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += perCall)
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + perCall)))
  return text
}
