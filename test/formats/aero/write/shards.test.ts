import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planShards } from '../../../../src/formats/aero/write/shards.js'
import { dtypeById, MemorySource, type Payload, rangePayload, type Tensor } from '../../../../src/kit.js'
import { bytesPayload } from '../../../../src/model/index.js'

const files = [new MemorySource(new Uint8Array(64), 'a'), new MemorySource(new Uint8Array(64), 'b')]
const made = [bytesPayload(new Uint8Array(3)), bytesPayload(new Uint8Array(3))]

const range = fc
  .tuple(fc.nat(1), fc.nat(10), fc.nat(3))
  .map(([file, offset, length]) => rangePayload(files[file]!, offset, length))
const payload = fc.oneof({ weight: 5, arbitrary: range }, fc.constantFrom(...made), fc.constant(null))

const tensorOf = (data: Payload | null, i: number): Tensor => ({
  name: `t${i}`,
  dtype: dtypeById('u8')!,
  shape: [data?.byteLength ?? 0],
  order: 'row',
  role: 'weight',
  data,
})

/** Looked for one by one: the first at the same place counts, whatever its length. */
function expectedFirsts(payloads: readonly (Payload | null)[]): number[] {
  return payloads.map((own, i) => {
    const isSamePlace = (other: Payload | null): boolean => {
      if (!own || !other || other.byteLength === 0 || !own.origin || !other.origin) return own !== null && own === other
      return own.origin.source === other.origin.source && own.origin.offset === other.origin.offset
    }
    const first = payloads.findIndex(isSamePlace)
    return own && own.byteLength > 0 && payloads[first]!.byteLength === own.byteLength ? first : i
  })
}

describe('tensors that are the same bytes', () => {
  it('are those of one payload, or of one range', () => {
    fc.assert(
      fc.property(fc.array(payload, { maxLength: 40 }), (payloads) => {
        const list = payloads.map(tensorOf)
        const { tensors } = planShards(list, 1000, 1)
        expect(tensors.map(({ stored }) => stored.end - stored.start)).toEqual(
          payloads.map((each) => each?.byteLength ?? 0),
        )
        expect(tensors.map(({ stored }) => list.indexOf(stored.tensor))).toEqual(expectedFirsts(payloads))
      }),
      { numRuns: 500 },
    )
  })

  it('lie in one place of one shard, and all others behind each other', () => {
    const alignments = fc.constantFrom(1, 4)
    fc.assert(
      fc.property(
        fc.array(payload, { maxLength: 40 }),
        fc.integer({ min: 1, max: 20 }),
        alignments,
        (payloads, limit, alignment) => {
          const firsts = expectedFirsts(payloads)
          const list = payloads.map(tensorOf)
          const { shards, tensors } = planShards(list, limit, alignment)
          const places = payloads.map((each, i) => {
            const { shard, number, start, end, tensor } = tensors[i]!.stored
            expect(tensors[i]!.tensor).toBe(list[i])
            expect(shard.stored[number]).toBe(tensors[i]!.stored)
            expect(tensor).toBe(list[firsts[i]!])
            expect(start % alignment).toBe(0)
            expect(start).toBeGreaterThanOrEqual(shard.stored[number - 1]?.end ?? 0)
            expect(end - start).toBe(each?.byteLength ?? 0)
            return shard.id
          })
          for (const shard of shards) {
            expect(shard.size).toBe(shard.stored.at(-1)?.end)
            expect(shard.size <= limit || shard.stored.at(-1)?.start === 0).toBe(true)
            expect(shard.tensorCount).toBe(places.filter((id) => id === shard.id).length)
          }
        },
      ),
      { numRuns: 500 },
    )
  })
})
