// Importance matrices as GGUF files: what llama.cpp's loader and quantizer refuse is found.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { MemorySource, verifySource } from '../../../src/kit.js'
import { fixturePath } from '../../support/fixtures.js'

async function found(name: string): Promise<string[]> {
  const bytes = new Uint8Array(readFileSync(fixturePath('imatrix', name)))
  const { findings } = await verifySource(new MemorySource(bytes, name))
  return findings.map(({ code }) => code).filter((code) => code !== 'verify/no-checksums')
}

describe('an importance matrix in GGUF', () => {
  it.each(['dense.gguf', 'moe.gguf', 'merged.gguf', 'from-dat.gguf', 'counts-1d.gguf', 'experts.gguf', 'zeros.gguf'])(
    'is fine: %s',
    async (name) => expect(await found(name)).toEqual([]),
  )

  it.each([
    ['nan.gguf', 'gguf/imatrix-value'],
    ['no-metadata.gguf', 'gguf/imatrix-keys'],
    ['sums-f16.gguf', 'gguf/imatrix-type'],
    ['sums-without-counts.gguf', 'gguf/imatrix-pair'],
    ['cut.gguf', 'gguf/past-end'],
  ])('is not: %s', async (name, code) => expect(await found(name)).toContain(code))
})
