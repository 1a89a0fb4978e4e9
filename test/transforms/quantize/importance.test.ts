// Importance matrices in both forms, with what llama.cpp's own loader makes of them.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { MemorySource, openModel } from '../../../src/kit.js'
import { readImportance } from '../../../src/transforms/quantize/importance.js'
import { fixturePath } from '../../support/fixtures.js'

interface File {
  readonly file: string
  readonly what: string
  readonly llamaLoader: string
  readonly entries?: Readonly<Record<string, { readonly weightsSha256: string }>>
}

const bytesOf = (name: string): Uint8Array => new Uint8Array(readFileSync(fixturePath('imatrix', name)))
const { files } = JSON.parse(new TextDecoder().decode(bytesOf('manifest.json'))) as { files: readonly File[] }
const importanceOf = async (name: string): Promise<Map<string, Float32Array>> =>
  readImportance(await openModel(new MemorySource(bytesOf(name), name)))

/** Its loader takes them; its quantizer refuses the first. A name that was cut off is damage to us. */
const refusedLater = ['nan.gguf', 'cut-tail.dat']
const isTaken = ({ file, llamaLoader }: File): boolean => llamaLoader === 'accepts' && !refusedLater.includes(file)

describe('importance weights', () => {
  it.each(files.filter(isTaken))('of $file are those of llama.cpp: $what', async ({ file, entries }) => {
    const found = await importanceOf(file)
    const digests = [...found].map(([name, weights]) => {
      return [name, createHash('sha256').update(new Uint8Array(weights.buffer)).digest('hex')]
    })
    const wanted = Object.entries(entries!).map(([name, { weightsSha256 }]) => [name, weightsSha256])
    expect(new Map(digests as [string, string][])).toEqual(new Map(wanted as [string, string][]))
    expect(wanted.length).toBeGreaterThan(0)
  })

  it.each(files.filter((each) => !isTaken(each)))('of $file are refused: $what', async ({ file }) => {
    await expect(importanceOf(file)).rejects.toMatchObject({ code: expect.stringMatching(/^[a-z]+\/[a-z-]+$/) })
  })

  it('are not found in other models', async () => {
    const bytes = new Uint8Array(readFileSync(fixturePath('npy', 'dtype-i8.npy')))
    await expect(openModel(new MemorySource(bytes, 'a.npy')).then(readImportance)).rejects.toThrow(
      'not an importance matrix',
    )
  })
})
