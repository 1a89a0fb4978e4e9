// Files without a section of their own share one that other readers step over.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { filePart } from '../../../src/content/companions.js'
import { otherFilesType } from '../../../src/formats/mcf/sections.js'
import {
  bytesPayload,
  MemorySource,
  type Model,
  mapSource,
  openModel,
  readPayload,
  verifySource,
} from '../../../src/kit.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel } from '../../support/sample-model.js'
import { poke, sectionOf } from './build.js'

async function written(files: Readonly<Record<string, Uint8Array>>): Promise<Uint8Array> {
  const parts = Object.entries(files).map(([name, bytes]) => filePart(name, bytesPayload(bytes)))
  return [...(await convertToFiles({ ...sampleModel([]), parts }, 'mcf')).values()][0]!
}

const open = (bytes: Uint8Array): Promise<Model> => openModel(new MemorySource(bytes, 'm.mcf'))

async function filesOf({ parts }: Model): Promise<Record<string, Uint8Array>> {
  const files: Record<string, Uint8Array> = {}
  for (const { kind, name, data } of parts) if (kind === 'file') files[name!] = await readPayload(data!)
  return files
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

describe('other files', () => {
  it('come back byte for byte, whatever they are called and hold', async () => {
    const name = fc.stringMatching(/^[a-zé][a-z0-9._-]{0,20}$/)
    const files = fc.dictionary(name, fc.uint8Array({ maxLength: 40 }), {
      minKeys: 1,
      maxKeys: 6,
      noNullPrototype: true,
    })
    await fc.assert(
      fc.asyncProperty(files, async (given) => {
        const bytes = await written(given)
        expect(await filesOf(await open(bytes))).toEqual(given)
        expect((await verifySource(new MemorySource(bytes, 'm.mcf'))).verdict).toBe('ok')
      }),
      { numRuns: 40, seed: 5 },
    )
  })

  it('lie beside those that have sections, and are written again as they were', async () => {
    const given = { 'config.json': text('{}'), 'tokenizer.model': text('abc'), 'vocab.txt': text('a\nb\n') }
    const bytes = await written(given)
    const model = await open(bytes)
    expect(Object.keys(await filesOf(model))).toEqual(['config.json', 'tokenizer.model', 'vocab.txt'])
    const again = [...(await convertToFiles(model, 'mcf')).values()][0]!
    expect(Buffer.compare(again, bytes)).toBe(0)
    const { files } = await mapSource(new MemorySource(bytes, 'm.mcf'))
    expect(files[0]!.extents.filter(({ kind }) => kind === 'gap')).toEqual([])
    expect(files[0]!.extents.map(({ path }) => path)).toContain('other_files["tokenizer.model"]')
  })
})

describe('a section of that type which is something else', () => {
  const spoil = async (change: (bytes: Uint8Array, section: number) => void): Promise<Model> => {
    const bytes = await written({ 'vocab.txt': text('abc'), 'x.model': text('defg') })
    change(bytes, sectionOf(bytes, otherFilesType).offset)
    return open(bytes)
  }

  it.each<[string, (bytes: Uint8Array, section: number) => void]>([
    ['no files', (bytes, at) => poke(bytes, at, 0, 4)],
    ['more files than there is room for', (bytes, at) => poke(bytes, at, 0xffffffff, 4)],
    ['an index beyond the section', (bytes, at) => poke(bytes, at + 4, 0xffffffff, 4)],
    ['an index of another length', (bytes, at) => poke(bytes, at + 4, 48, 4)],
    ['a name beyond the section', (bytes, at) => poke(bytes, at + 8, 1 << 20, 4)],
    ['a name that leads elsewhere', (bytes, at) => poke(bytes, at + 8 + 2 * 16, 0x2f, 1)],
    ['a file beyond the section', (bytes, at) => poke(bytes, at + 16, 2n ** 64n - 1n, 8)],
    ['a file that ends early', (bytes, at) => poke(bytes, at + 32, 1, 8)],
  ])('%s: it is kept as an unknown section', async (_what, change) => {
    const { parts } = await spoil(change)
    expect(parts.filter(({ kind }) => kind === 'file')).toEqual([])
    expect(parts.filter(({ kind }) => kind === 'mcf.section')).toHaveLength(1)
  })
})
