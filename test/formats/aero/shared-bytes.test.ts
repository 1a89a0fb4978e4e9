import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planShards, shardOf } from '../../../src/formats/aero/write/shards.js'
import { findSharedBytes } from '../../../src/formats/aero/write/shared-bytes.js'
import { dtypeById, MemorySource, type Payload, rangePayload, type Tensor } from '../../../src/index.js'
import { bytesPayload } from '../../../src/model/index.js'

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
        const { lengths, firsts } = findSharedBytes(payloads.map(tensorOf))
        expect([...lengths]).toEqual(payloads.map((each) => each?.byteLength ?? 0))
        expect([...(firsts ?? payloads.keys())]).toEqual(expectedFirsts(payloads))
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
          const { shards, stored, owners } = planShards(payloads.map(tensorOf), limit, alignment)
          const places = payloads.map((each, i) => {
            const shard = shardOf(shards, stored[i]!)
            const k = stored[i]! - shard.before
            expect(owners[stored[i]!]).toBe(firsts[i])
            expect(shard.starts[k]! % alignment).toBe(0)
            expect(shard.starts[k]).toBeGreaterThanOrEqual(shard.ends[k - 1] ?? 0)
            expect(shard.ends[k]! - shard.starts[k]!).toBe(each?.byteLength ?? 0)
            return shard.id
          })
          for (const shard of shards) {
            expect(shard.size).toBe(shard.ends.at(-1))
            expect(shard.size <= limit || shard.starts.at(-1) === 0).toBe(true)
            expect(shard.tensorCount).toBe(places.filter((id) => id === shard.id).length)
          }
        },
      ),
      { numRuns: 500 },
    )
  })
})
