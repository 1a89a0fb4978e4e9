// Drawings as pixels, PNG and SVG.
import { inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crc32Plain } from '../../src/kernels/digests/plain/crc32.js'
import { type Drawing, drawPixels, drawSvg, encodePng, type Pixels } from '../../src/kit.js'
import { fitText, text } from '../../src/picture/drawing.js'
import { hasGlyph, rowsOf } from '../../src/picture/output/font.js'
import { escapeXml } from '../../src/picture/output/svg.js'
import { visibleText } from '../../src/picture/parts/visible-text.js'

fc.configureGlobal({ seed: 17 })

interface Chunk {
  readonly type: string
  readonly content: Uint8Array
}

function chunksOf(png: Uint8Array): Chunk[] {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength)
  const chunks: Chunk[] = []
  for (let at = 8; at < png.length; ) {
    const length = view.getUint32(at)
    expect(view.getUint32(at + 8 + length)).toBe(crc32Plain(png.subarray(at + 4, at + 8 + length), 0))
    const type = String.fromCharCode(...png.subarray(at + 4, at + 8))
    chunks.push({ type, content: png.subarray(at + 8, at + 8 + length) })
    at += 12 + length
  }
  return chunks
}

const drawing = (...shapes: Drawing['shapes']): Drawing => ({
  width: 40,
  height: 30,
  title: 'a <b>',
  description: 'd & e',
  shapes,
})

const colorAt = ({ width, data }: Pixels, x: number, y: number): number[] => [
  ...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 3),
]

describe('encodePng', () => {
  it('holds the pixels', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 40 }),
        fc.nat(255),
        async (width, height, seed) => {
          const data = Uint8ClampedArray.from({ length: 4 * width * height }, (_, i) =>
            i % 4 === 3 ? 255 : (i * 31 + seed) % 256,
          )
          const png = await encodePng({ width, height, data })
          expect([...png.subarray(0, 8)]).toEqual([137, 80, 78, 71, 13, 10, 26, 10])
          const [head, image, end] = chunksOf(png)
          expect([head!.type, image!.type, end!.type]).toEqual(['IHDR', 'IDAT', 'IEND'])
          const view = new DataView(head!.content.buffer, head!.content.byteOffset)
          expect([view.getUint32(0), view.getUint32(4), view.getUint8(8), view.getUint8(9)]).toEqual([
            width,
            height,
            8,
            2,
          ])
          const rows = inflateSync(image!.content)
          expect(rows.length).toBe(height * (1 + 3 * width))
          for (let y = 0; y < height; y++) {
            const at = y * (1 + 3 * width)
            expect(rows[at]).toBe(0)
            for (let x = 0; x < width; x++)
              for (let k = 0; k < 3; k++) expect(rows[at + 1 + 3 * x + k]).toBe(data[4 * (y * width + x) + k])
          }
        },
      ),
      { numRuns: 40 },
    )
  })
})

describe('drawPixels', () => {
  it('draws rectangles, images and text where they are, and nothing outside', () => {
    const pixels: Pixels = { width: 2, height: 1, data: Uint8ClampedArray.of(1, 2, 3, 255, 4, 5, 6, 255) }
    const drawn = drawPixels(
      drawing(
        { kind: 'rect', x: 2, y: 3, width: 5, height: 4, fill: [9, 9, 9], border: [7, 7, 7] },
        { kind: 'image', x: 20, y: 10, width: 4, height: 2, pixels },
        { kind: 'rect', x: 38, y: 28, width: 50, height: 50, fill: [1, 1, 1] },
        text(10, 20, 'I', { size: 1, color: [5, 5, 5] }),
      ),
    )
    expect(colorAt(drawn, 2, 3)).toEqual([7, 7, 7])
    expect(colorAt(drawn, 3, 4)).toEqual([9, 9, 9])
    expect(colorAt(drawn, 7, 3)).toEqual([255, 255, 255])
    expect([colorAt(drawn, 21, 11), colorAt(drawn, 22, 10)]).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ])
    expect(colorAt(drawn, 39, 29)).toEqual([1, 1, 1])
    expect(colorAt(drawn, 12, 23)).toEqual([5, 5, 5])
  })
})

describe('the font', () => {
  it('has all of printable ASCII, no two alike', () => {
    const all = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i))
    expect(all.filter((each) => !hasGlyph(each))).toEqual([])
    expect(new Set(all.map((each) => rowsOf(each).join())).size).toBe(95)
    for (const each of all) expect(rowsOf(each)).toHaveLength(8)
  })
})

describe('texts', () => {
  it('shows other characters by their number', () => {
    expect(visibleText('a\u202eb\u0007é')).toBe('a\\u{202e}b\\u{7}\\u{e9}')
  })

  it('cuts in the middle', () => {
    expect(fitText('abcdefghij', 60, 1)).toBe('abcdefghij')
    expect(fitText('abcdefghij', 42, 1)).toBe('abc…hij')
    expect(fitText('abcdefghij', 12, 1)).toBe('')
  })

  it('never become markup in SVG', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (name) => {
        const svg = await drawSvg({ ...drawing(text(1, 1, name)), title: name, description: name })
        const inside = svg.replace(/<\/?(svg|title|desc|rect|text)(?: [a-z:-]+="[^"<>]*")*\/?>/gi, '')
        expect(inside).not.toMatch(/[<>]/)
        expect(inside).not.toMatch(/&(?!amp;|lt;|gt;|quot;|#39;)/)
        expect(inside).not.toMatch(/[\0-\x08\x0b\x0c\x0e-\x1f]/)
      }),
    )
    expect(escapeXml('<script>"&\'')).toBe('&lt;script&gt;&quot;&amp;&#39;')
  })
})
