// Files that would take far more work than they are worth: everything is given up in time, and that is said.
import { encode } from '@msgpack/msgpack'
import { describe, expect, it } from 'vitest'
import { countingSource, digestOf, MemorySource, planRepair, type ReadCount } from '../../../src/kit.js'
import { fixtureBytes } from '../../support/fixtures.js'
import { aeroBytes, codesOf, entry, index, pages, type TestChunk, verifyBytes, weights } from './build.js'

const wrong = new Uint8Array(32).fill(3)

function counted(bytes: Uint8Array) {
  const count: ReadCount = { reads: 0, bytes: 0 }
  return { count, source: countingSource(new MemorySource(bytes, 'x.aero'), count) }
}

/** So many shards with page tables, which all lie at the same places. */
const alike = (count: number, shard: TestChunk, table: TestChunk, at: number): TestChunk[] =>
  Array.from({ length: count }, (_, i) => [
    { ...shard, name: `weights.shard${i}`, offset: at },
    { ...table, name: `weights.shard${i}.phsh`, offset: at + shard.bytes.byteLength },
  ]).flat()

describe('verifying gives up', () => {
  it('on page tables with more digests than a file of that size has', async () => {
    const length = 20_000
    const digest = await digestOf('blake3', new Uint8Array(1))
    const shard = { ...weights(), bytes: new Uint8Array(length) }
    const table = pages({ shard_name: '', page_size: 1, digests: Array.from({ length }, () => digest) })
    const result = await verifyBytes(await aeroBytes([index(entry('a')), ...alike(15, shard, table, 16_384)]))
    expect(codesOf(result).filter((code) => code.endsWith('work'))).toEqual(['aero/chunk-overlap-work'])
    expect(codesOf(result)).not.toContain('aero/phsh-digest')
  })

  it('on page tables that are unfolded again and again', async () => {
    const table = { ...pages({}), bytes: new Uint8Array(16), flags: 9, ulen: 8 * 2 ** 20 }
    const result = await verifyBytes(await aeroBytes([index(), ...alike(40, weights(0), table, 16_384)]))
    expect(codesOf(result).filter((code) => code === 'aero/chunk-zstd').length).toBe(7)
    expect(codesOf(result)).toContain('aero/chunk-overlap-work')
  })

  it('on none of many short tensors that the file has room for', async () => {
    const hash = Buffer.from(await digestOf('blake3', Uint8Array.of(1))).toString('hex')
    const tensors = Array.from({ length: 3000 }, (_, i) => entry(`t${i}`, { shape: [1], data_len: 1, hash_b3: hash }))
    expect((await verifyBytes(await aeroBytes([index(...tensors), weights()]))).verdict).toBe('ok') // they share a byte, and each has its hash
  })
})

describe('repair gives up', () => {
  it('on weights that look like chunk after chunk behind a blank table', async () => {
    const bytes = new Uint8Array(2 ** 20)
    bytes.set(fixtureBytes('aero', 'defects/lowlevel-ihsh.aero').subarray(0, 112 + 80))
    const view = new DataView(bytes.buffer)
    view.setUint32(96, 7000, true)
    view.setBigUint64(20, BigInt(16 + 80 * 7000), true) // toc_length
    view.setBigUint64(28, 0n, true) // string_table_offset
    const start = 700_000
    view.setBigUint64(112 + 8, BigInt(start), true) // IHSH
    for (let at = start + 256; at < bytes.byteLength; at += 16) bytes.set([0x7b, 0x7d], at)
    const { source, count } = counted(bytes)
    await expect(planRepair(source, { name: 'out.aero' })).rejects.toMatchObject({ code: 'write/nothing-to-repair' })
    expect(count.bytes).toBeLessThan(16 * bytes.byteLength)
  })

  it('on tensors that all lie over a damaged shard', async () => {
    const length = 2 ** 20
    const hash = '00'.repeat(32)
    const tensors = Array.from({ length: 400 }, (_, i) =>
      entry(`t${i}`, { shape: [length - i], data_len: length - i, hash_b3: hash }),
    )
    const shard = { ...weights(), bytes: new Uint8Array(length), hash: wrong }
    const { source, count } = counted(await aeroBytes([index(...tensors), shard]))
    await expect(planRepair(source, { name: 'out.aero' })).rejects.toMatchObject({ code: 'write/nothing-to-repair' })
    expect(count.bytes).toBeLessThan(200 * length)
  })
})

it('repair lists more damaged tensors than a call takes arguments', async () => {
  const count = 130_000
  const tensors = Array.from({ length: count }, (_, i) =>
    entry(`t${i}`, { shape: [1], data_off: i, data_len: 1, hash_b3: '00'.repeat(32) }),
  )
  const list = { ...index(), bytes: encode({ tensors: [...tensors, entry('good', { data_off: count, data_len: 4 })] }) }
  const bytes = await aeroBytes([list, { ...weights(), bytes: new Uint8Array(count + 4) }])
  const { lost, repaired } = await planRepair(new MemorySource(bytes, 'x.aero'), { name: 'out.aero' })
  expect(lost.length).toBe(count)
  expect(repaired).toEqual(['the tensor that is whole is in a new file'])
})
