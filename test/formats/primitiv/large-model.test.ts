// A model of ten gigabytes that exists only around its data: listing it must touch little more than keys and shapes.
import { describe, expect, it } from 'vitest'
import { type ByteSource, openModel } from '../../../src/kit.js'
import { header, join, key, shape, str, u32 } from './build.js'

const [rows, columns] = [1600, 1600]
const dataLength = 4 * rows * columns
const dataHeader = join('c6', u32(dataLength).subarray(1))

interface Sparse {
  readonly source: ByteSource
  /** All bytes that are not data. */
  readonly indexSize: number
  readonly read: { count: number; bytes: number }
}

/** The runs of bytes between two payloads, and zeros for everything else. */
function sparse(runs: readonly Uint8Array[]): Sparse {
  const starts: number[] = []
  let size = 0
  for (const run of runs) {
    starts.push(size)
    size += run.byteLength + dataLength
  }
  size -= dataLength
  const read = { count: 0, bytes: 0 }
  const source: ByteSource = {
    name: 'large.model',
    size,
    async read(offset, length) {
      read.count++
      read.bytes += length
      const bytes = new Uint8Array(length)
      for (const [i, start] of starts.entries()) {
        const from = Math.max(start, offset)
        const to = Math.min(start + runs[i]!.byteLength, offset + length)
        if (from < to) bytes.set(runs[i]!.subarray(from - start, to - start), from - offset)
      }
      return bytes
    },
    async sibling(name) {
      throw new Error(`there is no ${name}`)
    },
    async close() {},
  }
  return { source, indexSize: runs.reduce((sum, run) => sum + run.byteLength, 0), read }
}

function sparseModel(keys: readonly (readonly string[])[], stats: readonly string[]): Sparse {
  const runs: Uint8Array[] = []
  const tensor = join(shape([rows, columns]), dataHeader)
  let before = join(header(0x300), u32(keys.length))
  for (const names of keys) {
    runs.push(join(before, key(...names), tensor))
    before = u32(stats.length)
    for (const stat of stats) {
      runs.push(join(before, str(stat), tensor))
      before = new Uint8Array(0)
    }
  }
  return sparse([...runs, before])
}

const blocks = ['attention.key', 'attention.output', 'attention.query', 'attention.value', 'dense', 'norm.after']
const keys = Array.from({ length: 1000 }, (_, i) => [
  'encoder',
  `layer${String(Math.floor(i / 12)).padStart(2, '0')}`,
  ...blocks[Math.floor(i / 2) % 6]!.split('.'),
  i % 2 === 0 ? 'bias' : 'weight',
])
/** What recognising a file reads at once. */
const head = 65_536

describe('ten gigabytes', () => {
  it.each([
    ['without statistics', []],
    ['with two statistics each', ['Adam.m2', 'Adam.m1']],
  ])('%s are listed by their index', async (_what, stats) => {
    const { source, indexSize, read } = sparseModel(keys, stats)
    const model = await openModel(source)
    expect(model.tensors.length).toBe(1000 * (1 + stats.length))
    expect(source.size).toBeGreaterThan(10e9)
    expect(read.bytes - head).toBeLessThan(1.25 * indexSize)
    expect(read.count).toBeLessThan(1.05 * model.tensors.length)
  })

  it('one long key does not make all later reads long', async () => {
    const long = [['a'.repeat(60_000)], ...keys]
    const { source, indexSize, read } = sparseModel(long, [])
    await openModel(source)
    expect(read.bytes - head).toBeLessThan(indexSize + 150_000)
  })
})
