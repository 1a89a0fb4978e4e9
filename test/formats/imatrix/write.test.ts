// Both forms of importance matrices, from one to the other.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { MemorySource, type Model, openModel, planConversion } from '../../../src/kit.js'
import { readImportance } from '../../../src/transforms/quantize/importance.js'
import { convertToFiles } from '../../support/convert.js'
import { fixturePath } from '../../support/fixtures.js'

const bytesOf = (name: string): Uint8Array => new Uint8Array(readFileSync(fixturePath('imatrix', name)))
const open = (name: string): Promise<Model> => openModel(new MemorySource(bytesOf(name), name))

async function converted(name: string, target: string, output: string): Promise<Uint8Array> {
  return (await convertToFiles(await open(name), target, { name: output })).get(output)!
}

describe('the older form of an importance matrix', () => {
  it.each([
    ['dense.gguf', 'from-gguf.dat'],
    ['moe.gguf', 'moe.dat'],
    ['dense.dat', 'dense.dat'],
    ['moe.dat', 'moe.dat'],
  ])('of %s is %s, as llama.cpp writes it', async (from, wanted) => {
    expect(Buffer.compare(await converted(from, 'imatrix', 'out.dat'), bytesOf(wanted))).toBe(0)
  })

  it.each(['dense.dat', 'moe.dat', 'old-no-tail.dat', 'ncall-zero.dat'])(
    'becomes GGUF and comes back: %s',
    async (name) => {
      const gguf = await converted(name, 'gguf', 'out.gguf')
      const model = await openModel(new MemorySource(gguf, 'out.gguf'))
      expect(await readImportance(model)).toEqual(await readImportance(await open(name)))
      const back = (await convertToFiles(model, 'imatrix', { name: 'back.dat' })).get('back.dat')!
      const again = await openModel(new MemorySource(back, 'back.dat'))
      expect(await readImportance(again)).toEqual(await readImportance(await open(name)))
    },
  )

  it('becomes the GGUF file that llama-imatrix makes of it, for chunks of one token', async () => {
    const written = bytesOf('from-dat.gguf')
    const { metadata, tensors } = await openModel(new MemorySource(written, 'from-dat.gguf'))
    expect(metadata.get('imatrix.chunk_size')).toMatchObject({ value: 64 })
    const key = Buffer.from(written.buffer).indexOf('imatrix.chunk_size')
    new DataView(written.buffer).setUint32(key + 'imatrix.chunk_size'.length + 4, 1, true)
    expect(tensors.length).toBeGreaterThan(20)
    for (const { data } of tensors) {
      const values = new Float32Array(written.buffer, data!.origin!.offset, data!.byteLength / 4)
      values.set(values.map((value) => value / 64))
    }
    expect(Buffer.compare(await converted('dense.dat', 'gguf', 'out.gguf'), written)).toBe(0)
  })

  it('takes no other models', async () => {
    const bytes = new Uint8Array(readFileSync(fixturePath('npy', 'dtype-i8.npy')))
    const model = await openModel(new MemorySource(bytes, 'a.npy'))
    const { plan } = await planConversion(model, 'imatrix', { name: 'out.dat' })
    expect(plan.unrequestedLoss).toBe('content')
    expect(plan.actions[0]?.reason).toContain('sums and counts only')
  })
})
