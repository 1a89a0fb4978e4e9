// Opening reads the index and nothing else; every byte of every file is accounted for.
import { describe, expect, it } from 'vitest'
import { countingSource, formats, MemorySource, mapSource, openModel } from '../../src/kit.js'
import { convertToFiles } from '../support/convert.js'
import { fixtureSource, isAccepted, presentCases } from '../support/fixtures.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

describe.each(formats.map((format) => format.id))('%s, reading', (id) => {
  const { capabilities } = formats.find((format) => format.id === id)!
  const writable = capabilities.write !== undefined

  it.runIf(writable)('opens a file by its index alone', async () => {
    const most = Math.min(8, capabilities.write?.maxTensors ?? 8)
    const tensors = Array.from({ length: most }, (_, i) => sampleTensor(`layer.${i}.weight`, 'f32', [512, 512], i + 1))
    const files = await convertToFiles(sampleModel(tensors), id)
    const [name, bytes] = [...files][0]!
    const count = { reads: 0, bytes: 0 }
    const model = await openModel(countingSource(new MemorySource(bytes, name, files), count))
    expect(model.tensors.length).toBe(most)
    expect(count.bytes).toBeLessThan(300_000)
    expect(count.reads).toBeLessThan(40)
  })

  it.each(presentCases(id).filter(isAccepted))('$file is mapped to the last byte', async (each) => {
    const { files } = await mapSource(fixtureSource(id, each.file))
    for (const file of files) {
      let at = 0
      for (const extent of file.extents) {
        expect(extent.offset).toBe(at)
        expect(extent.length).toBeGreaterThan(0)
        at += extent.length
      }
      expect(at).toBe(file.size)
    }
  })
})
