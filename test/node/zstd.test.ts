import zlib from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { registerNodeZstd } from '../../src/node/zstd.js'
import { encodeZstd } from '../../src/wire/zstd/encoder.js'
import { decodeZstd, isZstdFault, registerZstdDecoder, zstdDecoder } from '../../src/wire/zstd/zstd.js'

const hasZstd = 'zstdDecompressSync' in zlib
const verdictOf = (result: Awaited<ReturnType<typeof decodeZstd>>): string =>
  isZstdFault(result) ? 'fault' : Buffer.from(result).toString('hex')

// Node has it from 22.15 on.
describe.skipIf(!hasZstd)('what Node decodes', () => {
  beforeAll(registerNodeZstd)
  afterAll(() => registerZstdDecoder(undefined))

  it('is what was encoded', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), fc.integer({ min: 1, max: 19 }), async (bytes, level) => {
        expect(await decodeZstd(await encodeZstd(bytes, level), bytes.byteLength)).toEqual(bytes)
      }),
      { numRuns: 40 },
    )
  })

  it('and what it refuses, the package refuses, too', async () => {
    const content = Uint8Array.from({ length: 2000 }, (_, i) => (i * i) % 97)
    const frame = await encodeZstd(content)
    const node = await zstdDecoder()
    const some = fc.array(fc.tuple(fc.nat(frame.byteLength - 1), fc.integer({ min: 1, max: 255 })), { maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(some, async (changes) => {
        const damaged = frame.slice()
        for (const [at, change] of changes) damaged[at]! ^= change
        registerZstdDecoder(node)
        const own = verdictOf(await decodeZstd(damaged, content.byteLength))
        registerZstdDecoder(undefined)
        expect(verdictOf(await decodeZstd(damaged, content.byteLength))).toBe(own)
      }),
      { numRuns: 300 },
    )
  })
})
