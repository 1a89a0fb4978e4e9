import { describe, expect, it } from 'vitest'
import { encodeUtf8 } from '../../../src/bytes/index.js'
import { tableOf, vocabularyOf, vocabularyPart } from '../../../src/content/vocabulary.js'
import { MemorySource, type Model, openModel } from '../../../src/kit.js'
import { sampleFile, writeEmbd } from './build.js'

const option = 'special-ids'
const all = 'pad=5, unk=4,cls=3,sep=2,mask=1'
const odd = (): Model => ({
  ...sampleFile(),
  parts: [vocabularyPart(tableOf(['<a>', '<b>', '<c>', '<d>', '<e>', '<f>'].map(encodeUtf8)))],
})

async function idsOf(model: Model, text: string, extra: Record<string, string> = {}) {
  const bytes = await writeEmbd(model, { ...extra, [option]: text })
  return vocabularyOf((await openModel(new MemorySource(bytes, 'x.weights'))).parts)!.special
}

describe('special ids', () => {
  it('are stored as given', async () => {
    expect(await idsOf(odd(), all)).toEqual({ pad: 5, unk: 4, cls: 3, sep: 2, mask: 1 })
  })

  it('that are not given stay as they were, or are found by text', async () => {
    expect(await idsOf(sampleFile(), 'mask=7')).toEqual({ pad: 0, unk: 1, cls: 2, sep: 3, mask: 7 })
    const bytes = await writeEmbd(odd(), { [option]: all })
    const model = await openModel(new MemorySource(bytes, 'x.weights'))
    expect(await idsOf(model, 'pad=0')).toEqual({ pad: 0, unk: 4, cls: 3, sep: 2, mask: 1 })
  })

  it('are written only when all five are known', async () => {
    await expect(idsOf(odd(), 'pad=0,unk=1')).rejects.toMatchObject({
      code: 'usage/option',
      finding: { file: 'special-ids', message: expect.stringContaining('cls, sep, mask') },
    })
  })

  it.each([
    ['pad=6,unk=4,cls=3,sep=2,mask=1', 'the vocabulary has 6 tokens'],
    ['pad=-1', 'is no NAME=ID'],
    ['pad', 'is no NAME=ID'],
    ['', 'is no NAME=ID'],
    ['eos=1', 'pad, unk, cls, sep, mask'],
    ['constructor=1', 'is no NAME=ID'],
    ['pad=1,pad=2', 'twice'],
  ])('"%s" is refused', async (text, message) => {
    await expect(idsOf(odd(), text)).rejects.toThrow(message)
  })

  it('need a layout and a vocabulary that they can be stored with', async () => {
    await expect(idsOf(sampleFile(), all, { layout: 'stream' })).rejects.toThrow('do not store special ids')
    await expect(idsOf({ ...sampleFile(), parts: [] }, all)).rejects.toThrow('bring one with parts')
  })
})
