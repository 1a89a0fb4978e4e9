import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { vocabularyOf } from '../../../../src/content/vocabulary.js'
import {
  MemorySink,
  MemorySource,
  openModel,
  planRepair,
  TareError,
  verifySource,
  writeLayout,
} from '../../../../src/kit.js'
import { fixtureBytes, presentCases } from '../../../support/fixtures.js'
import { changed, codesOf, layoutOf, sampleFile, streamOf, writeEmbd } from '../build.js'

async function repair(bytes: Uint8Array) {
  const planned = await planRepair(new MemorySource(bytes, 'x.weights'), { name: 'out.weights' })
  const files = new Map<string, Uint8Array>()
  await writeLayout(planned.layout, async (name) => new MemorySink(name, files))
  return { ...planned, bytes: files.get('out.weights')! }
}

const flip = (bytes: Uint8Array, at: number): Uint8Array => {
  const copy = bytes.slice()
  copy[at] = copy[at]! ^ 0x10
  return copy
}

const refusal = async (bytes: Uint8Array): Promise<string> => {
  const error = await repair(bytes).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(TareError)
  return (error as TareError).code
}

const confirmed = 'the stored checksum of the file confirms that this is what was written'

describe('a sectioned file', () => {
  it('with one wrong checksum is what it was, and that is proven', async () => {
    const whole = await writeEmbd(sampleFile())
    const { footer } = layoutOf(whole)
    for (const at of [56, footer, footer + 8]) {
      const { bytes, repaired, lost } = await repair(flip(whole, at))
      expect(Buffer.compare(bytes, whole), `byte ${at}`).toBe(0)
      expect(repaired.at(-1)).toBe(confirmed)
      expect(lost).toEqual([])
    }
  })

  it('with a wrong checksum of the file keeps the proof for its weights', async () => {
    const whole = await writeEmbd(sampleFile())
    const { bytes, repaired, lost } = await repair(flip(whole, layoutOf(whole).footer + 4))
    expect(Buffer.compare(bytes, whole)).toBe(0)
    expect(repaired.join()).toMatch(/footer\.file_checksum is 0x[0-9a-f]{8}; it was 0x/)
    expect(lost).toEqual([expect.stringContaining('everything but the weights')])
  })

  it('with damaged weights is not vouched for in silence', async () => {
    const whole = await writeEmbd(sampleFile())
    const damaged = flip(whole, layoutOf(whole).data + 3)
    const { bytes, repaired, lost } = await repair(damaged)
    expect(lost).toEqual([expect.stringContaining('the proof for the weights')])
    expect(repaired.length).toBe(2)
    const { footer } = layoutOf(whole)
    expect(Buffer.compare(bytes.subarray(0, footer), damaged.subarray(0, footer))).toBe(0)
    expect(await codesOf(bytes)).toEqual([])
  })

  it('with damaged metadata is not vouched for in silence', async () => {
    const whole = await writeEmbd(sampleFile())
    const { metadata } = layoutOf(whole)
    const { lost } = await repair(flip(whole, metadata + 24))
    expect(lost).toEqual([expect.stringContaining('everything but the weights')])
  })

  it.each([
    ['metadata.total_size', (view: DataView) => view.setUint32(layout(view).metadata + 4, 7, true)],
    ['vocab.total_size', (view: DataView) => view.setUint32(layout(view).vocab + 4, 7, true)],
    ['tensors[1].name_hash', (view: DataView) => view.setUint32(layout(view).index + 32, 7, true)],
    ['header.header_checksum', (view: DataView) => view.setUint32(56, 7, true)],
  ])('with a wrong %s gets the right one', async (field, change) => {
    const whole = await writeEmbd(sampleFile())
    // The writer's own mistake: its checksum of the file is right.
    const wrong = whole.slice()
    change(new DataView(wrong.buffer))
    const { bytes, repaired, lost } = await repair(fileSumOnly(wrong))
    expect(Buffer.compare(bytes, whole)).toBe(0)
    expect(repaired[0]).toContain(field)
    expect(repaired.at(-1)).toBe('the stored checksum of the file confirmed all other bytes')
    expect(lost).toEqual([])
    // Damage of the field alone: the stored checksum of the file finds the old value right.
    const damaged = await repair(wrong)
    expect(Buffer.compare(damaged.bytes, whole)).toBe(0)
    expect([damaged.repaired.at(-1), damaged.lost]).toEqual([confirmed, []])
  })

  it('ends where it should', async () => {
    const whole = await writeEmbd(sampleFile())
    const longer = await repair(new Uint8Array([...whole, 1, 2, 3]))
    expect(Buffer.compare(longer.bytes, whole)).toBe(0)
    expect(longer.lost).toEqual(['3 bytes that followed the end of the file'])
    expect(longer.repaired).toContain(confirmed)
    for (const missing of [1, 8, 16]) {
      const { bytes, lost } = await repair(whole.subarray(0, whole.byteLength - missing))
      expect(Buffer.compare(bytes, whole), `${missing} bytes`).toBe(0)
      expect(lost).toEqual([expect.stringContaining('the proof for the weights')])
    }
    const stated = changed(whole, (view) => view.setBigUint64(48, BigInt(whole.byteLength + 5), true))
    expect(Buffer.compare((await repair(stated)).bytes, whole)).toBe(0)
  })

  it('that was cut keeps the tensors that are whole, and names the others', async () => {
    const whole = await writeEmbd(sampleFile())
    const { data } = layoutOf(whole)
    const { bytes, lost } = await repair(whole.subarray(0, data + 64 + 5))
    const model = await openModel(new MemorySource(bytes, 'x.weights'))
    expect(model.tensors.map(({ name }) => name)).toEqual(['w.first', 'w.second'])
    expect(model.metadata.get('model_name')).toMatchObject({ value: 'sample' })
    expect(vocabularyOf(model.parts)!.tokens.length).toBe(8)
    expect(lost).toEqual(['"w.third": the file ends before its last byte', expect.stringContaining('the weights')])
    expect(await codesOf(bytes)).toEqual([])
  })

  it('loses only the tensors that cannot be read', async () => {
    const whole = await writeEmbd(sampleFile())
    const wrong = changed(whole, (_, bytes) => {
      bytes[layoutOf(bytes).index + 32 + 4] = 9
    })
    const { bytes, repaired, lost } = await repair(wrong)
    expect((await openModel(new MemorySource(bytes, 'x.weights'))).tensors.length).toBe(2)
    expect(repaired[0]).toContain('2 tensors')
    expect(lost).toEqual([expect.stringContaining('type 9')])
  })

  it('has tensors moved to where the flag wants them', async () => {
    const packed = await writeEmbd(sampleFile(), {}, 1)
    const flagged = changed(packed, (view) => view.setUint32(8, view.getUint32(8, true) + 2, true))
    const { bytes, repaired, lost } = await repair(flagged)
    expect(await codesOf(bytes)).toEqual([])
    expect([repaired.length, lost]).toEqual([2, []])
  })

  it('finds special ids by text where those that are stored are no ids', async () => {
    const whole = await writeEmbd(sampleFile())
    const wrong = changed(whole, (view) => view.setUint32(layout(view).vocab + 12 + 8, 99, true))
    const { bytes } = await repair(wrong)
    expect(Buffer.compare(bytes, whole)).toBe(0)
  })

  it('without checksums gets none', async () => {
    const whole = await writeEmbd(sampleFile(), { checksums: 'off' })
    const wrong = whole.slice()
    new DataView(wrong.buffer).setUint32(layoutOf(whole).index, 1, true)
    const { bytes, lost } = await repair(wrong)
    expect(Buffer.compare(bytes, whole)).toBe(0)
    expect(lost).toEqual([])
  })
})

describe('a stream file', () => {
  const tensor = (name: string): (number | string)[] => [name.length, name, 1, 2, 'abcdefgh']

  it('that was cut keeps what is whole', async () => {
    const whole = streamOf(1, 2, ...tensor('first'), ...tensor('second'), 1, 3, 'fox')
    const noTokens = streamOf(1, 2, ...tensor('first'), ...tensor('second'), 0)
    const insideToken = await repair(whole.subarray(0, whole.byteLength - 1))
    expect(Buffer.compare(insideToken.bytes, noTokens)).toBe(0)
    expect(insideToken.lost).toEqual([expect.stringContaining('vocab.tokens[0]')])
    const beforeTokens = await repair(noTokens.subarray(0, noTokens.byteLength - 4))
    expect(Buffer.compare(beforeTokens.bytes, noTokens)).toBe(0)
    const one = await repair(noTokens.subarray(0, noTokens.byteLength - 8))
    expect(Buffer.compare(one.bytes, streamOf(1, 1, ...tensor('first'), 0))).toBe(0)
    expect(one.lost).toEqual([expect.stringContaining('tensors[1].data')])
  })

  it('loses what follows its end', async () => {
    const whole = streamOf(1, 1, ...tensor('first'), 1, 3, 'fox')
    const { bytes, lost } = await repair(new Uint8Array([...whole, 0, 0]))
    expect(Buffer.compare(bytes, whole)).toBe(0)
    expect(lost).toEqual(['2 bytes that followed it'])
  })
})

describe('what cannot be repaired', () => {
  it.each([
    'sect-bad-compressed-flag.weights',
    'sect-bad-sections-overlap.weights',
    'sect-bad-tensors-overlap.weights',
    'sect-bad-metadata-value-overrun.weights',
    'sect-bad-vocab-count-too-low.weights',
    'sect-bad-truncated-in-data.weights',
    'stream-duplicate-name.bin',
    'stream-bad-version-2.bin',
    'other-adr-draft-layout.bin',
  ])('%s is refused', async (file) => {
    expect(await refusal(fixtureBytes('embd', file))).toBe('write/nothing-to-repair')
  })

  it('is not there in a file that is fine', async () => {
    expect(await refusal(await writeEmbd(sampleFile()))).toBe('write/nothing-to-repair')
    expect(await refusal(await writeEmbd(sampleFile(), { checksums: 'off' }))).toBe('write/nothing-to-repair')
  })
})

it('every file that can be repaired has no errors afterwards', async () => {
  let count = 0
  for (const { file } of presentCases('embd')) {
    const before = fixtureBytes('embd', file)
    const result = await repair(before).catch((error: unknown) => {
      expect((error as TareError).code, file).toMatch(/^(write\/nothing-to-repair|embd\/|open\/)/)
    })
    if (!result) continue
    count++
    const { verdict, findings } = await verifySource(new MemorySource(result.bytes, 'x.weights'))
    expect(verdict, `${file}: ${JSON.stringify(findings)}`).not.toBe('errors')
    expect(result.repaired.length, file).toBeGreaterThan(0)
  }
  expect(count).toBeGreaterThan(20)
})

const layout = (view: DataView) => layoutOf(new Uint8Array(view.buffer))

/** The checksum of the file made right, and no other. */
function fileSumOnly(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice()
  const { footer } = layoutOf(copy)
  new DataView(copy.buffer).setUint32(footer + 4, crc32(copy.subarray(0, footer)), true)
  return copy
}
