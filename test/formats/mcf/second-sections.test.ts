// The second section of a type means nothing to readers. It is kept, and never takes the place of the one that counts.
import { describe, expect, it } from 'vitest'
import { header, sectionRecord } from '../../../src/formats/mcf/structs.js'
import { diffModels, MemorySource, type Model, openModel, verifySource } from '../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'
import { fixtureBytes } from '../../support/fixtures.js'

/** The file with further sections of six bytes, listed behind the others. */
function withSeconds(bytes: Uint8Array, types: readonly number[]): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  const count = view.getUint32(header.offsetOf('sectionCount'), true)
  const directory = Number(view.getBigUint64(header.offsetOf('sectionDirOffset'), true))
  const start = bytes.byteLength
  const moved = start + 8 * types.length
  const out = new Uint8Array(moved + (count + types.length) * sectionRecord.size)
  out.set(bytes)
  out.set(bytes.subarray(directory, directory + count * sectionRecord.size), moved)
  const target = new DataView(out.buffer)
  for (const [i, type] of types.entries()) {
    out.set([1, 2, 3, 4, 5, 6], start + 8 * i)
    const record = { type, version: 1, offset: BigInt(start + 8 * i), size: 6n }
    sectionRecord.writeInto(target, moved + (count + i) * sectionRecord.size, record)
  }
  target.setUint32(header.offsetOf('sectionCount'), count + types.length, true)
  target.setBigUint64(header.offsetOf('sectionDirOffset'), BigInt(moved), true)
  target.setBigUint64(header.offsetOf('fileSize'), BigInt(out.byteLength), true)
  return out
}

const opened = (file: string, types: readonly number[]): Promise<Model> =>
  openModel(new MemorySource(withSeconds(fixtureBytes('mcf', file), types), 'm.mcf'))

const keptIn = ({ parts }: Model): unknown[] => parts.filter(({ kind }) => kind === 'mcf.section').map((p) => p.name)

describe('a second section', () => {
  it('of the tensors stays behind the first', async () => {
    const model = await opened('quant-k3.mcf', [1, 2, 3, 4])
    const files = await convertToFiles(model, 'mcf')
    expect((await verifySource(sourceOf(files))).verdict).toBe('warnings')
    const again = await openModel(sourceOf(files))
    expect(keptIn(again)).toEqual(['0x0001', '0x0002', '0x0003', '0x0004'])
    expect((await diffModels(model, again)).equal).toBe(true)
  })

  it('of quantization records is not taken for the first, where nothing is quantized any more', async () => {
    const model = await opened('quant-k3.mcf', [2, 3])
    const away = await openModel(sourceOf(await convertToFiles(model, 'safetensors')))
    const files = await convertToFiles(away, 'mcf')
    expect((await verifySource(sourceOf(files))).verdict).toBe('warnings')
    expect(keptIn(await openModel(sourceOf(files)))).toEqual(['0x0002', '0x0003'])
  })

  it('does not move up when the first is left out', async () => {
    const model = await opened('pack-hf.mcf', [0x100])
    await expect(convertToFiles(model, 'mcf', { without: ['config.json'] })).rejects.toThrow(/without: \['0x0100'\]/)
    const without = await convertToFiles(model, 'mcf', { without: ['config.json', '0x0100'] })
    expect((await verifySource(sourceOf(without))).verdict).toBe('ok')
  })
})
