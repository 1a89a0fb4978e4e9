import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { MemorySource } from '../../../src/kit.js'
import { convertFile, type Wanted } from '../page/models.js'
import { callIn, type Use } from '../site.js'

const model = readFileSync(resolve(import.meta.dirname, '../../../examples/tiny-mlp.safetensors'))

const wishes: readonly (Wanted & { readonly label: string })[] = [
  { label: 'MCF, q4', target: 'mcf', method: 'q4' },
  { label: 'MCF, k6', target: 'mcf', method: 'k6' },
  { label: 'GGUF, f16', target: 'gguf', cast: 'f16' },
  { label: 'GGUF, q8_0', target: 'gguf', cast: 'ggml.q8_0' },
  { label: 'OINF', target: 'oinf' },
  { label: 'AERO', target: 'aero' },
  { label: 'AERO with a packed index', target: 'aero', extra: { 'tensor-hashes': 'off' } },
  { label: 'NPZ', target: 'npz' },
  { label: 'safetensors, bf16', target: 'safetensors', cast: 'bf16' },
]

export function conversionSuite({ site, page }: Use): void {
  beforeAll(() => writeFileSync(join(site().folder, 'files', 'tiny-mlp.safetensors'), model))

  it.each(wishes)('safetensors to $label: the same bytes as in Node', async (wish) => {
    const wanted: Record<string, string> = {}
    for (const [name, bytes] of await convertFile(new MemorySource(model, 'tiny-mlp.safetensors'), wish))
      wanted[name] = `${bytes.byteLength} ${createHash('sha256').update(bytes).digest('hex')}`
    expect(Object.keys(wanted).length).toBeGreaterThan(0)
    expect(await callIn(page(), 'page', 'convertAndHash', '/files/tiny-mlp.safetensors', wish)).toEqual(wanted)
  })
}
