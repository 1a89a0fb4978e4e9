import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findMostNegative } from '../../../../src/formats/mcf/quant/unused-codes.js'
import { MemorySource, type Model, type OptionValues, verifySource } from '../../../../src/kit.js'
import { convertToFiles } from '../../../support/convert.js'
import { fixtureSource } from '../../../support/fixtures.js'
import { sampleModel, sampleTensor } from '../../../support/sample-model.js'

fc.configureGlobal({ seed: 13 })

async function codesOf(model: Model, extra: OptionValues = {}): Promise<string[]> {
  const bytes = [...(await convertToFiles(model, 'mcf')).values()][0]!
  const { findings } = await verifySource(new MemorySource(bytes, 'x.mcf'), { extra })
  return findings.filter(({ severity }) => severity !== 'note').map(({ code }) => code)
}

describe('findMostNegative', () => {
  it('counts as an element-wise search does', () => {
    fc.assert(
      fc.property(fc.constantFrom(2, 3, 4, 6, 8), fc.uint8Array({ minLength: 12, maxLength: 120 }), (bits, given) => {
        const bytes = given.subarray(0, given.length - (given.length % 12))
        let count = 0
        for (let bit = 0; bit < bytes.length * 8; bit += bits) {
          let code = 0
          for (let k = 0; k < bits; k++) code += ((bytes[Math.floor((bit + k) / 8)]! >> ((bit + k) % 8)) & 1) * 2 ** k
          if (code === 2 ** (bits - 1)) count++
        }
        const found = findMostNegative(bytes, bits)
        expect(found.count).toBe(count)
        expect(found.first >= 0).toBe(count > 0)
      }),
      { numRuns: 300 },
    )
  })
})

describe('verifying payloads', () => {
  it('points at the first wrong scale and counts the others', async () => {
    const { findings } = await verifySource(fixtureSource('mcf', 'quant-subnormal-scales.mcf'))
    const found = findings.filter(({ code }) => code === 'mcf/scale-subnormal')
    expect(found.length).toBe(6)
    for (const { offset, message } of found) {
      expect(offset).toBeGreaterThan(400)
      expect(message).toMatch(/^\d+ scales/)
    }
  })

  it('takes infinity for the writer’s doing only where the recorded range explains it', async () => {
    const tensor = sampleTensor('w', 'mcf.q4', [1, 32])
    const bytes = new Uint8Array(tensor.data!.byteLength)
    bytes.set([0x00, 0x7c])
    const data = {
      byteLength: bytes.byteLength,
      chunks: async function* () {
        yield bytes
      },
    }
    const info = (maxClip: number) => ({ quantInfo: { domain: 'weights', minClip: -maxClip, maxClip } })
    expect(await codesOf(sampleModel([{ ...tensor, data }]))).toEqual(['mcf/scale-not-finite'])
    expect(await codesOf(sampleModel([{ ...tensor, data, extra: info(1000) }]))).toEqual(['mcf/scale-not-finite'])
    expect(await codesOf(sampleModel([{ ...tensor, data, extra: info(1e6) }]))).toEqual(['mcf/scale-overflow'])
  })

  it('says that int8 is not for everyone, unless told that this is known', async () => {
    const bytes = new Uint8Array(64 + 6)
    const tensor = sampleTensor('w', 'mcf.int8', [2, 3])
    const model = sampleModel([
      {
        ...tensor,
        data: {
          byteLength: 70,
          chunks: async function* () {
            yield bytes
          },
        },
      },
    ])
    expect(await codesOf(model)).toEqual(['mcf/int-payload'])
    expect(await codesOf(model, { 'accept-int': true })).toEqual([])
    bytes.set([0, 0, 0x80, 0x7f])
    expect(await codesOf(model, { 'accept-int': true })).toEqual(['mcf/scale-not-finite'])
  })

  it('reads shared bytes once', async () => {
    const count = async (names: string[]): Promise<number> => {
      const tensor = sampleTensor('a', 'mcf.q8', [8, 320])
      const files = await convertToFiles(sampleModel(names.map((name) => ({ ...tensor, name }))), 'mcf', {
        dedup: true,
      })
      const result = await verifySource(new MemorySource([...files.values()][0]!, 'x.mcf'))
      return result.checked.bytes
    }
    expect((await count(['a', 'b'])) - (await count(['a']))).toBeLessThan(200)
  })
})
