import { describe, expect, it } from 'vitest'
import { lookup3 } from '../../../src/wire/hdf5/lookup3.js'
import { fletcher32, unpackChunk } from '../../../src/wire/hdf5/unpack.js'

describe('checksums of HDF5', () => {
  it('has the values that the author of lookup3 publishes', () => {
    expect(lookup3(new Uint8Array())).toBe(0xdeadbeef)
    expect(lookup3(Buffer.from('Four score and seven years ago'))).toBe(0x17770551)
  })

  it('sums words of 16 bits, the upper byte first', () => {
    expect(fletcher32(Uint8Array.of(0, 1, 0, 2))).toBe(((1 + 3) << 16) | 3)
    expect(fletcher32(Uint8Array.of(1))).toBe(0x01000100)
  })
})

describe('filters', () => {
  const place = { file: 'x', offset: 0, path: 'chunk' }

  it('puts the bytes of elements together again, and leaves filters out that the mask names', async () => {
    const packing = { filters: ['shuffle'] as const, length: 6, elementSize: 2 }
    const stored = Uint8Array.of(1, 2, 3, 4, 5, 6)
    expect([...(await unpackChunk(stored, { mask: 0 }, packing, place))]).toEqual([1, 4, 2, 5, 3, 6])
    expect([...(await unpackChunk(stored, { mask: 1 }, packing, place))]).toEqual([...stored])
  })

  it('refuses a chunk that unpacks to another length', async () => {
    const packing = { filters: [] as const, length: 5, elementSize: 1 }
    await expect(unpackChunk(new Uint8Array(6), { mask: 0 }, packing, place)).rejects.toMatchObject({
      code: 'hdf5/chunk-data',
    })
  })
})
