import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemorySink } from '../../src/bytes/index.js'
import { bytesPayload, type FileLayout, fileLength, lazyPayload, rechunked, type Slot } from '../../src/model/index.js'
import { writeLayout } from '../../src/writing/write-layout.js'

const bytes = (length: number, seed = 1): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (i * 31 + seed * 17) % 256)
const sha256 = (data: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(data).digest())

async function write(file: FileLayout, window = 64): Promise<Uint8Array> {
  const sink = new MemorySink(file.name)
  await writeLayout({ files: [file] }, async () => sink, { window })
  return sink.bytes
}

describe('writeLayout', () => {
  it('writes slots in order', async () => {
    const slots: Slot[] = [
      { kind: 'bytes', path: 'head', bytes: bytes(10) },
      { kind: 'zeros', path: 'pad', length: 200 },
      { kind: 'payload', path: 'data', payload: bytesPayload(bytes(1000, 2)) },
    ]
    const file = { name: 'f', slots }
    expect(await write(file)).toEqual(new Uint8Array([...bytes(10), ...new Uint8Array(200), ...bytes(1000, 2)]))
    expect(fileLength(file)).toBe(1210)
  })

  it('computes digests of bytes before and after the slot', async () => {
    const data = bytes(500, 3)
    const slots: Slot[] = [
      { kind: 'digest', path: 'early', algorithm: 'sha256', length: 32, covers: [[64, 564]] },
      { kind: 'zeros', path: 'pad', length: 32 },
      { kind: 'payload', path: 'data', payload: bytesPayload(data) },
      {
        kind: 'digest',
        path: 'crc',
        algorithm: 'crc32',
        length: 4,
        covers: [[64, 564]],
        encode: (digest) => digest.toReversed(),
      },
    ]
    const written = await write({ name: 'f', slots })
    expect(written.subarray(0, 32)).toEqual(sha256(data))
    expect(new DataView(written.buffer).getUint32(564, true)).toBe(crc32(data))
  })

  it('sums up bytes that several checksums cover as each of them wants it', async () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 70_000 }), { minLength: 1, maxLength: 4 })
    const part = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }))
    const property = fc.asyncProperty(
      sizes,
      fc.array(part, { minLength: 1, maxLength: 4 }),
      part,
      async (list, parts, hidden) => {
        const total = list.reduce((sum, size) => sum + size, 0)
        const at = 8 + 4 * parts.length
        const rangeOf = (ends: readonly number[]): [number, number] => {
          const [from, to] = ends.map((end) => at + Math.floor(end * total)).sort((a, b) => a - b)
          return [from!, to!]
        }
        const masked = [rangeOf(hidden)]
        const ranges = parts.map(rangeOf)
        const crc = { kind: 'digest', algorithm: 'crc32', length: 4 } as const
        const slots: Slot[] = [
          { ...crc, path: 'all', covers: [[at, at + total]] },
          { ...crc, path: 'masked', covers: [[at, at + total]], masked },
          ...ranges.map((range) => ({ ...crc, path: 'part', covers: [range] })),
          ...list.map((size, i) => ({ kind: 'payload', path: 'data', payload: bytesPayload(bytes(size, i)) }) as const),
        ]
        const written = await write({ name: 'f', slots }, 20_000)
        const view = new DataView(written.buffer)
        const zeroed = written.slice().fill(0, ...masked[0]!)
        expect(view.getUint32(0)).toBe(crc32(written.subarray(at)))
        expect(view.getUint32(4)).toBe(crc32(zeroed.subarray(at)))
        for (const [i, range] of ranges.entries())
          expect(view.getUint32(8 + 4 * i)).toBe(crc32(written.subarray(...range)))
      },
    )
    await fc.assert(property, { numRuns: 60 })
  })

  it('patches a checksum as soon as its bytes have gone by', async () => {
    const events: string[] = []
    class Recording extends MemorySink {
      override async write(chunk: Uint8Array) {
        events.push(`write ${chunk.byteLength}`)
        await super.write(chunk)
      }
      override async patch(offset: number, chunk: Uint8Array) {
        events.push(`patch ${offset}`)
        await super.patch(offset, chunk)
      }
    }
    const member = (start: number): Slot[] => [
      { kind: 'digest', path: 'crc', algorithm: 'crc32', length: 4, covers: [[start + 4, start + 14]] },
      { kind: 'bytes', path: 'data', bytes: bytes(10, start) },
    ]
    const sink = new Recording('f')
    await writeLayout({ files: [{ name: 'f', slots: [...member(0), ...member(14)] }] }, async () => sink)
    expect(events).toEqual(['write 4', 'write 10', 'patch 0', 'write 4', 'write 10', 'patch 14'])
    const view = new DataView(sink.bytes.buffer, sink.bytes.byteOffset)
    expect([view.getUint32(0), view.getUint32(14)]).toEqual([crc32(bytes(10, 0)), crc32(bytes(10, 14))])
  })

  it('writes nothing where a checksum could not be put in its place later', async () => {
    class Stream extends MemorySink {
      override readonly canPatch = false as never
      override async write(): Promise<void> {
        throw new Error('this is too late')
      }
    }
    const slots: Slot[] = [
      { kind: 'digest', path: 'crc', algorithm: 'crc32', length: 4, covers: [[4, 14]] },
      { kind: 'bytes', path: 'data', bytes: bytes(10) },
    ]
    const work = writeLayout({ files: [{ name: 'f', slots }] }, async () => new Stream('f'))
    await expect(work).rejects.toMatchObject({ code: 'io/needs-seek' })
  })

  it('hashes several ranges, and takes masked bytes as zeros', async () => {
    const data = bytes(300)
    const slots: Slot[] = [
      { kind: 'payload', path: 'data', payload: bytesPayload(data) },
      {
        kind: 'digest',
        path: 'd',
        algorithm: 'sha256',
        length: 32,
        covers: [
          [10, 100],
          [200, 300],
        ],
        masked: [[50, 60]],
      },
    ]
    const written = await write({ name: 'f', slots })
    const blanked = data.slice().fill(0, 50, 60)
    expect(written.subarray(300)).toEqual(
      sha256(new Uint8Array([...blanked.subarray(10, 100), ...blanked.subarray(200, 300)])),
    )
  })

  it('makes the main file visible last, and all files or none', async () => {
    const order: string[] = []
    class Recording extends MemorySink {
      override async sibling(name: string) {
        return new Recording(name, this.files)
      }
      override async close() {
        order.push(this.name)
        await super.close()
      }
    }
    const file = (name: string): FileLayout => ({ name, slots: [{ kind: 'bytes', path: 'x', bytes: bytes(5) }] })
    const written = await writeLayout(
      { files: [file('index'), file('a'), file('b')] },
      async (name) => new Recording(name),
    )
    expect(order).toEqual(['a', 'b', 'index'])
    expect(written.map((each) => each.name)).toEqual(['index', 'a', 'b'])
  })

  it('aborts the sink when a payload gives a different number of bytes than it declared', async () => {
    for (const given of [90, 110]) {
      let aborted = false
      const sink = new MemorySink('f')
      sink.abort = async () => {
        aborted = true
      }
      const payload = lazyPayload(100, async function* () {
        yield bytes(given)
      })
      const work = writeLayout(
        { files: [{ name: 'f', slots: [{ kind: 'payload', path: 'p', payload }] }] },
        async () => sink,
      )
      await expect(work).rejects.toMatchObject({ code: 'write/layout-mismatch' })
      expect(aborted).toBe(true)
      expect(sink.files.size).toBe(0)
    }
  })

  it('stops when it is told to', async () => {
    const abort = new AbortController()
    const sink = new MemorySink('f')
    const slots: Slot[] = Array.from({ length: 50 }, () => ({ kind: 'bytes', path: 'x', bytes: bytes(10) }))
    const work = writeLayout({ files: [{ name: 'f', slots }] }, async () => sink, {
      signal: abort.signal,
      onProgress: ({ done }) => done > 100 && abort.abort(),
    })
    await expect(work).rejects.toMatchObject({ code: 'io/aborted' })
    expect(sink.files.size).toBe(0)
  })

  it('gives digests of whole files', async () => {
    const file: FileLayout = { name: 'f', slots: [{ kind: 'payload', path: 'p', payload: bytesPayload(bytes(1000)) }] }
    const [written] = await writeLayout({ files: [file] }, async () => new MemorySink('f'), { digests: ['sha256'] })
    expect(written!.digests.sha256).toEqual(sha256(bytes(1000)))
  })
})

describe('rechunked', () => {
  it('cuts pieces of any size into equal windows', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 40 })),
        fc.integer({ min: 1, max: 50 }),
        async (pieces, window) => {
          async function* give() {
            for (const piece of pieces) {
              const reused = piece.slice()
              yield reused
              reused.fill(0xee) // the producer is allowed to
            }
          }
          const chunks: Uint8Array[] = []
          for await (const chunk of rechunked(give(), window)) chunks.push(chunk.slice())
          expect(chunks.flatMap((chunk) => [...chunk])).toEqual(pieces.flatMap((piece) => [...piece]))
          expect(chunks.slice(0, -1).every((chunk) => chunk.byteLength === window)).toBe(true)
        },
      ),
    )
  })
})
