// Streams over a Blob: several slices are on their way at once, each byte arrives once and in order.
import { describe, expect, it } from 'vitest'
import { BlobSource, streamRange } from '../../src/bytes/index.js'
import { sampleBytes, whereBitsDiffer } from '../support/numbers.js'

const window = 1 << 16

interface Trips {
  slices: number
  open: number
  most: number
}

/** A blob that takes a turn of the event loop for each slice, and counts. */
function slowBlob(bytes: Uint8Array<ArrayBuffer>, trips: Trips, fails = (_: number): boolean => false): Blob {
  const slice = (start: number, end: number): Pick<Blob, 'arrayBuffer'> => ({
    async arrayBuffer() {
      trips.slices++
      trips.most = Math.max(trips.most, ++trips.open)
      await new Promise((resolve) => setImmediate(resolve))
      trips.open--
      if (fails(start)) throw new DOMException('gone', 'NotReadableError')
      return bytes.slice(start, end).buffer
    },
  })
  return { size: bytes.length, slice } as unknown as Blob
}

async function streamed(source: BlobSource, offset: number, length: number): Promise<Uint8Array> {
  const all = new Uint8Array(length)
  let at = 0
  for await (const chunk of streamRange({ source, offset, length }, window)) {
    all.set(chunk, at)
    at += chunk.length
  }
  expect(at).toBe(length)
  return all
}

describe('BlobSource', () => {
  it('overlaps the slices of a stream and reads each once', async () => {
    const bytes = sampleBytes(20 * window + 77)
    const trips: Trips = { slices: 0, open: 0, most: 0 }
    const source = new BlobSource(slowBlob(bytes, trips), 'model')
    const length = bytes.length - 5 - 1000
    expect(whereBitsDiffer(await streamed(source, 5, length), bytes.subarray(5, 5 + length))).toBe(-1)
    expect(trips.slices).toBe(Math.ceil(length / window))
    expect(trips.most).toBeGreaterThanOrEqual(4)
    expect(trips.most).toBeLessThanOrEqual(5)
  })

  it('serves two streams side by side', async () => {
    const bytes = sampleBytes(12 * window)
    const trips: Trips = { slices: 0, open: 0, most: 0 }
    const source = new BlobSource(slowBlob(bytes, trips), 'model')
    const [a, b] = await Promise.all([streamed(source, 0, 6 * window), streamed(source, 6 * window, 6 * window)])
    expect(whereBitsDiffer(a, bytes.subarray(0, 6 * window))).toBe(-1)
    expect(whereBitsDiffer(b, bytes.subarray(6 * window))).toBe(-1)
    expect(trips.slices).toBe(12)
  })

  it('reads nothing ahead of single reads', async () => {
    const trips: Trips = { slices: 0, open: 0, most: 0 }
    const source = new BlobSource(slowBlob(sampleBytes(9 * window), trips), 'model')
    await source.read(0, window)
    await source.read(10, 100, { ahead: 1000 })
    expect(trips.slices).toBe(2)
  })

  it('reports the error of a slice where it is reached', async () => {
    const trips: Trips = { slices: 0, open: 0, most: 0 }
    const source = new BlobSource(
      slowBlob(sampleBytes(9 * window), trips, (start) => start === 3 * window),
      'model',
    )
    let chunks = 0
    const read = async (): Promise<void> => {
      for await (const _ of streamRange({ source, offset: 0, length: 9 * window }, window)) chunks++
    }
    await expect(read()).rejects.toMatchObject({ code: 'io/changed', finding: { offset: 3 * window } })
    expect(chunks).toBe(3)
  })

  it('may be left early, and closed', async () => {
    const trips: Trips = { slices: 0, open: 0, most: 0 }
    const source = new BlobSource(
      slowBlob(sampleBytes(9 * window), trips, (start) => start > 0),
      'model',
    )
    for await (const _ of streamRange({ source, offset: 0, length: 9 * window }, window)) break
    await source.close()
    expect(trips.slices).toBeLessThanOrEqual(5)
  })
})
