import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinBytes } from '../../../src/bytes/index.js'
import { decodeZstdStream, ZstdStreamError } from '../../../src/wire/zstd/decode-stream.js'
import { encodeZstd, encodeZstdStream } from '../../../src/wire/zstd/encoder.js'
import { decodeZstd, parseZstdFrame } from '../../../src/wire/zstd/zstd.js'

async function* inPieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += length) yield bytes.subarray(at, at + length)
}

async function gather(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  for await (const piece of pieces) all.push(Uint8Array.from(piece))
  return joinBytes(all)
}

const packed = (bytes: Uint8Array, length = 1 << 18, level = 3): Promise<Uint8Array> =>
  gather(encodeZstdStream(inPieces(bytes, length), bytes.byteLength, level))

const unpacked = (frame: Uint8Array, size: number, length = 1 << 16): Promise<Uint8Array> =>
  gather(decodeZstdStream(inPieces(frame, length), size))

async function faultOf(frame: Uint8Array, size: number): Promise<string> {
  try {
    await unpacked(frame, size)
    return 'none'
  } catch (error) {
    if (error instanceof ZstdStreamError) return error.fault.fault
    throw error
  }
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

/** Runs, and noise that can be packed. */
function sample(size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  let state = 1
  for (let i = 0; i < size; i++) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    if (Math.floor(i / 100_000) % 2 === 0) bytes[i] = Math.floor(state / 65536) % 5
  }
  return bytes
}

describe('zstd streams', () => {
  it('give back what was packed, whatever the pieces', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 3_000_000 }),
        fc.integer({ min: 1000, max: 1_500_000 }),
        fc.integer({ min: 1000, max: 300_000 }),
        async (size, into, outOf) => {
          const bytes = sample(size)
          const frame = await packed(bytes, into)
          expect(isSame(await unpacked(frame, size, outOf), bytes)).toBe(true)
        },
      ),
      { numRuns: 15 },
    )
  })

  it('are one frame with its content size, which others decode', async () => {
    const bytes = sample(2_500_000)
    const frame = await packed(bytes)
    expect(parseZstdFrame(frame)).toMatchObject({ contentSize: bytes.byteLength, byteLength: frame.byteLength })
    expect(isSame((await decodeZstd(frame, bytes.byteLength)) as Uint8Array, bytes)).toBe(true)
    expect(isSame(await unpacked(await encodeZstd(bytes), bytes.byteLength), bytes)).toBe(true)
  })

  it('end with a fault for damaged, cut, longer and wrongly declared frames', async () => {
    const bytes = sample(1_300_000)
    const frame = await packed(bytes)
    expect(await faultOf(frame, bytes.byteLength)).toBe('none')
    expect(await faultOf(frame, bytes.byteLength - 1)).toBe('size')
    expect(await faultOf(frame.subarray(0, frame.byteLength - 1), bytes.byteLength)).toBe('corrupt')
    expect(await faultOf(joinBytes([frame, new Uint8Array(1)]), bytes.byteLength)).toBe('trailing')
    expect(await faultOf(new Uint8Array(30), 30)).toBe('corrupt')
    let caught = 0
    for (let at = 20; at < frame.byteLength; at += Math.floor(frame.byteLength / 50)) {
      const bad = Uint8Array.from(frame)
      bad[at]! ^= 0x5a
      // A changed literal decodes to other bytes; what covers those is a digest.
      if ((await faultOf(bad, bytes.byteLength)) !== 'none') caught++
    }
    expect(caught).toBeGreaterThan(0)
  })

  it('refuse a frame that unfolds to more than declared, and a window that is too large', async () => {
    // Without a content size: 1000 run-length blocks of 128 KiB each.
    const block = [
      (128 * 1024 * 8 + 2) % 256,
      Math.floor((128 * 1024 * 8 + 2) / 256) % 256,
      Math.floor((128 * 1024 * 8) / 65536),
      7,
    ]
    const bomb = Uint8Array.from([
      0x28,
      0xb5,
      0x2f,
      0xfd,
      0x00,
      0x58,
      ...Array.from({ length: 1000 }, () => block).flat(),
    ])
    expect(await faultOf(bomb, 1000)).toBe('size')
    expect(await faultOf(Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 1, 0, 0]), 0)).toBe('corrupt')
  })
})
