import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { digestsModule } from '../../src/kernels/digests/index.js'
import { crc32Plain } from '../../src/kernels/digests/plain/crc32.js'

const compiled = digestsModule()!.crc32

const pieces = fc.array(fc.uint8Array({ maxLength: 5000 }), { maxLength: 4 })
const start = fc.nat(0xffffffff)

it('both kernels give what zlib gives, piece by piece and from any value on', () => {
  const property = fc.property(pieces, start, (list, crc) => {
    let [own, plain, zlib] = [crc, crc, crc]
    for (const bytes of list) {
      own = compiled(bytes, own)
      plain = crc32Plain(bytes, plain)
      zlib = crc32(bytes, zlib)
      expect([own, plain]).toEqual([zlib, zlib])
    }
  })
  fc.assert(property, { numRuns: 200 })
})

it('lengths around the slices that are summed up side by side', () => {
  const bytes = Uint8Array.from({ length: 140_000 }, (_, i) => (i * i * 31 + i * 7) >>> 3)
  for (const edge of [0, 256, 1024, 1280, 4096, 65_280, 65_536, 130_560]) {
    for (const length of [edge - 1, edge, edge + 1, edge + 15, edge + 16].filter((each) => each >= 0)) {
      const part = bytes.subarray(3, 3 + length)
      expect([compiled(part, 7), crc32Plain(part, 7)], `${length} bytes`).toEqual([crc32(part, 7), crc32(part, 7)])
    }
  }
})
