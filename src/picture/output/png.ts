// PNG: a signature, then chunks of a length, a type, content and a CRC-32. Eight bits each of red, green and blue; every row begins with the
// number of its filter, here always 0 for none.

import { joinBytes } from '../../bytes/index.js'
import { crc32Kernel } from '../../kernels/digests/index.js'
import type { Pixels } from '../drawing.js'

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

/** Opaque: what is transparent in the pixels is not in the file. */
export async function encodePng({ width, height, data }: Pixels): Promise<Uint8Array> {
  const header = new Uint8Array(13)
  const view = new DataView(header.buffer)
  view.setUint32(0, width)
  view.setUint32(4, height)
  header.set([8, 2, 0, 0, 0], 8) // bits, RGB, deflate, the one set of filters, not interlaced
  const rows = new Uint8Array(height * (1 + 3 * width))
  for (let y = 0, at = 0, from = 0; y < height; y++) {
    at++
    for (let x = 0; x < width; x++, from += 4, at += 3) {
      rows[at] = data[from]!
      rows[at + 1] = data[from + 1]!
      rows[at + 2] = data[from + 2]!
    }
  }
  const compressed = await deflate(rows)
  return joinBytes([
    Uint8Array.from(signature),
    chunk('IHDR', header),
    chunk('IDAT', compressed),
    chunk('IEND', new Uint8Array()),
  ])
}

function chunk(type: string, content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + content.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, content.length)
  for (let i = 0; i < 4; i++) bytes[4 + i] = type.charCodeAt(i)
  bytes.set(content, 8)
  view.setUint32(8 + content.length, crc32Kernel().update(bytes.subarray(4, 8 + content.length), 0))
  return bytes
}

async function deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
