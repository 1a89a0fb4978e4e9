import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPlainSha256 } from '../../src/digest/sha256-plain.js'
import { createCompiledSha256 } from '../../src/digest/sha256-wasm.js'
import type { Hasher } from '../../src/digest/types.js'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const expected = (pieces: readonly Uint8Array[]): string => {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}

const kinds: readonly (readonly [string, () => Promise<Hasher>])[] = [
  ['the plain one', async () => createPlainSha256()],
  ['the compiled one', async () => (await createCompiledSha256())!],
]

describe.each(kinds)('%s', (_, create) => {
  it('gives the digest of the bytes, however they are cut', async () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 })
    const property = fc.asyncProperty(pieces, async (list) => {
      const hasher = await create()
      for (const piece of list) hasher.update(piece)
      expect(hex(hasher.digest())).toBe(expected(list))
    })
    await fc.assert(property, { seed: 7, numRuns: 200 })
  })

  it('pads every length as it should', async () => {
    const bytes = Uint8Array.from({ length: 200 }, (_, i) => (i * 37) % 251)
    for (let length = 0; length <= bytes.length; length++) {
      const hasher = await create()
      hasher.update(bytes.subarray(0, length))
      expect(hex(hasher.digest()), `${length} bytes`).toBe(expected([bytes.subarray(0, length)]))
    }
  })

  it('goes on by turns, thousands at a time', async () => {
    const hashers = await Promise.all(Array.from({ length: 2000 }, create))
    const piece = (i: number, part: number): Uint8Array => new Uint8Array((i * 7 + part) % 150).fill(i % 256)
    for (const part of [1, 2, 3]) for (const [i, hasher] of hashers.entries()) hasher.update(piece(i, part))
    for (const [i, hasher] of [...hashers.entries()].reverse()) {
      const digest = hasher.digest()
      expect(hex(digest), `${i}`).toBe(expected([1, 2, 3].map((part) => piece(i, part))))
      expect(hasher.digest()).toBe(digest)
    }
  })

  it('refuses bytes after the digest was taken', async () => {
    const hasher = await create()
    hasher.digest()
    expect(() => hasher.update(new Uint8Array(1))).toThrow(/already/)
  })
})
