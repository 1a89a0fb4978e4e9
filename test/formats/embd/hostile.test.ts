// Files made to hurt: random damage with right checksums, and counts that promise more than is there.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { repaired, sampleFile, streamOf, writeEmbd } from './build.js'
import { survive } from './survive.js'

const sectioned = await writeEmbd(sampleFile())
const unsummed = await writeEmbd(sampleFile(), { checksums: 'off' })
const stream = streamOf(
  1,
  2,
  3,
  'k.w',
  2,
  2,
  3,
  new Uint8Array(24),
  3,
  'k.b',
  1,
  3,
  new Uint8Array(12),
  2,
  2,
  'k0',
  2,
  'k1',
)
const interesting = fc.constantFrom(0, 1, 5, 63, 64, 0x7f, 0x80, 0xff)

describe('damage', () => {
  const damage = fc.array(fc.tuple(fc.nat(), interesting), { minLength: 1, maxLength: 4 })
  it.each([
    ['sectioned', sectioned, true],
    ['sectioned without checksums', unsummed, false],
    ['stream', stream, false],
  ] as const)('of a %s file is answered with findings, or harmless', async (_, bytes, isRepaired) => {
    await fc.assert(
      fc.asyncProperty(damage, async (changes) => {
        const copy = bytes.slice()
        // Most damage goes to the index, where it matters.
        for (const [at, value] of changes) copy[at % Math.min(copy.byteLength, 560)] = value
        await survive(isRepaired ? repaired(copy) : copy)
      }),
      { seed: 9, numRuns: 150 },
    )
  })

  it('by words of all ones, anywhere', async () => {
    for (const bytes of [sectioned, stream]) {
      for (let at = 4; at + 4 <= bytes.byteLength; at += 3) {
        const copy = bytes.slice()
        copy.fill(0xff, at, at + 4)
        await survive(bytes === sectioned ? repaired(copy) : copy)
      }
    }
  })
})

describe('promises that the file does not keep', () => {
  it('cost neither time nor memory', async () => {
    const started = performance.now()
    const before = process.memoryUsage().arrayBuffers
    const many = 0xffffffff
    for (const bytes of [
      streamOf(1, many),
      streamOf(1, many, ...Array.from({ length: 2000 }, () => [0, 1, 1, new Uint8Array(4)]).flat()),
      streamOf(1, 0, many),
      streamOf(1, 1, many, 'x'),
      streamOf(1, 1, 1, 'x', 4, many, many, many, many),
    ]) {
      await survive(bytes)
    }
    expect(performance.now() - started).toBeLessThan(5000)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000)
  })
})
