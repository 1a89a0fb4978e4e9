import fc from 'fast-check'
import { createBLAKE3 } from 'hash-wasm'
import { describe, expect, it } from 'vitest'
import { Blake3Hasher } from '../../src/digest/blake3-hasher.js'
import { type Blake3Kernel, blockSize, joinSubtrees } from '../../src/kernels/digests/blake3.js'
import { digestsModule } from '../../src/kernels/digests/index.js'
import { blake3Plain } from '../../src/kernels/digests/plain/blake3.js'

const compiled = digestsModule()!.blake3
const kernels: readonly Blake3Kernel[] = [compiled, blake3Plain]
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const foreign = await createBLAKE3()

function expected(bytes: Uint8Array): string {
  foreign.init()
  foreign.update(bytes)
  return foreign.digest('hex')
}

/** Bytes without a period that divides anything. */
function sample(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length)
  for (let i = 0, x = seed; i < length; i++) {
    x = (Math.imul(x, 1_103_515_245) + 12_345) >>> 0
    bytes[i] = x >>> 16
  }
  return bytes
}

function digest(kernel: Blake3Kernel, pieces: readonly Uint8Array[]): string {
  const hasher = new Blake3Hasher(kernel)
  for (const piece of pieces) hasher.update(piece)
  return hex(hasher.digest())
}

// Around every boundary that the tree has: blocks, chunks, four chunks, powers of two, windows.
const edges = [0, 64, 1024, 2048, 3072, 4096, 5120, 8192, 16_384, 31_744, 65_536, 131_072, 196_608, 262_144]

describe.each(kernels.map((kernel) => [kernel.name, kernel] as const))('%s', (_, kernel) => {
  it('gives the digests that others give, at and around all boundaries', () => {
    for (const edge of kernel === compiled ? edges : edges.filter((each) => each <= 131_072)) {
      for (const length of [edge - 1, edge, edge + 1].filter((each) => each >= 0)) {
        const bytes = sample(length)
        expect(digest(kernel, [bytes]), `${length} bytes`).toBe(expected(bytes))
      }
    }
  })

  it('does not depend on how the bytes are cut', () => {
    const cuts = fc.array(fc.integer({ min: 0, max: 200_000 }), { maxLength: 6 })
    const property = fc.property(cuts, fc.integer({ min: 0, max: 200_000 }), (at, length) => {
      const bytes = sample(length, length)
      const places = [0, ...at.map((each) => Math.min(each, length)).sort((a, b) => a - b), length]
      const pieces = places.slice(1).map((end, i) => bytes.subarray(places[i], end))
      expect(digest(kernel, pieces)).toBe(expected(bytes))
    })
    fc.assert(property, { numRuns: kernel === compiled ? 60 : 8 })
  })

  it('puts subtrees together to the digest of the whole', () => {
    const part = 2 * blockSize
    for (const length of [part + 1, 2 * part, 2 * part + 70_000, 3 * part, 5 * part - 1023]) {
      const bytes = sample(length)
      const count = Math.ceil(length / part)
      const values = new Uint8Array(32 * count)
      for (let i = 0; i < count; i++) {
        const hasher = new Blake3Hasher(kernel, (i * part) / 1024)
        hasher.update(bytes.subarray(i * part, (i + 1) * part))
        values.set(hasher.digest(), 32 * i)
      }
      expect(hex(joinSubtrees(kernel, values, true)), `${length} bytes`).toBe(expected(bytes))
    }
  })
})

it('the compiled kernel and its plain twin agree on every subtree', () => {
  const counters = fc.oneof(fc.nat(1000), fc.integer({ min: 2 ** 25, max: 2 ** 37 })).map((each) => 64 * each)
  const property = fc.property(fc.nat(blockSize), counters, fc.boolean(), (length, counter, isRoot) => {
    const bytes = sample(length, counter % 65_521)
    expect(hex(compiled.subtree(bytes, counter, isRoot))).toBe(hex(blake3Plain.subtree(bytes, counter, isRoot)))
  })
  fc.assert(property, { numRuns: 60 })
})

it('refuses bytes after the digest was taken', () => {
  const hasher = new Blake3Hasher(compiled)
  hasher.update(sample(10))
  const first = hasher.digest()
  expect(hasher.digest()).toBe(first)
  expect(() => hasher.update(sample(1))).toThrow(/already/)
})
