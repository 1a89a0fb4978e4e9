// Zeros that fill up are zeros, wherever they are: a changed bit in any of them is seen.
import { describe, expect, it } from 'vitest'
import { blockLayout } from '../../../src/dtypes/mcf/layout.js'
import { methodOf } from '../../../src/dtypes/mcf/types.js'
import { MemorySource, mapSource, openModel, verifySource } from '../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'
import { fixtureBytes } from '../../support/fixtures.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'

const source = (bytes: Uint8Array): MemorySource => new MemorySource(bytes, 'x.mcf')

async function warningsAbout(bytes: Uint8Array): Promise<{ code: string; offset?: number }[]> {
  const { findings, verdict } = await verifySource(source(bytes))
  expect(verdict).not.toBe('errors')
  return findings.filter(({ code }) => code === 'mcf/padding' || code === 'mcf/row-padding')
}

function flipped(bytes: Uint8Array, at: number, bit: number): Uint8Array {
  const changed = bytes.slice()
  changed[at]! ^= 1 << bit
  return changed
}

describe('padding', () => {
  const files = ['quant-q4.mcf', 'quant-k3.mcf', 'plain-dtypes.mcf', 'pack-hf.mcf', 'pack-align256.mcf']

  it.each(files)('between sections and tensors of %s', async (file) => {
    const bytes = fixtureBytes('mcf', file)
    expect(await warningsAbout(bytes)).toEqual([])
    const { extents } = (await mapSource(source(bytes))).files[0]!
    const padding = extents.filter(({ kind }) => kind === 'padding')
    expect(padding.length).toBeGreaterThan(0)
    for (const { offset, length } of padding) {
      for (const at of new Set([offset, offset + length - 1]))
        expect(await warningsAbout(flipped(bytes, at, at % 8))).toMatchObject([{ code: 'mcf/padding', offset: at }])
    }
  })

  it.each(['q8', 'q4', 'k6', 'k4', 'k3', 'k2'])('inside a tensor of %s', async (name) => {
    const bytes = fixtureBytes('mcf', `quant-${name}.mcf`)
    const { tensors } = await openModel(source(bytes))
    const tensor = tensors.find((each) => each.name === 'c.odd77')!
    const method = methodOf(tensor.dtype.id)!
    const layout = blockLayout(method, tensor.shape)!
    const { offset: start } = tensor.data!.origin!
    const { rows, columns, blocks, supers, blocksPerRow, codeSize, codesOffset, subScalesOffset } = layout
    // Between the regions: the last byte of each gap.
    const scales = 2 * (method.family === 'q' ? blocks : supers)
    const gaps = [...(scales < subScalesOffset ? [subScalesOffset - 1] : [])]
    if (method.family === 'k' && subScalesOffset + blocks < codesOffset) gaps.push(codesOffset - 1)
    expect(gaps.length).toBeGreaterThan(0)
    for (const at of gaps)
      expect(await warningsAbout(flipped(bytes, start + at, 3))).toMatchObject([
        { code: 'mcf/padding', offset: start + at },
      ])
    // Behind the last column of a row: the first bit that is free, and the last; the bit before belongs to a value.
    for (const row of [0, rows - 1]) {
      const block = codesOffset + ((row + 1) * blocksPerRow - 1) * codeSize
      const free = 8 * (start + block) + (columns % 32) * method.bits
      for (const bit of [free, 8 * (start + block + codeSize) - 1]) {
        const changed = flipped(bytes, Math.floor(bit / 8), bit % 8)
        expect(await warningsAbout(changed)).toMatchObject([{ code: 'mcf/row-padding', offset: Math.floor(bit / 8) }])
      }
      const before = flipped(bytes, Math.floor((free - 1) / 8), (free - 1) % 8)
      expect(await warningsAbout(before)).toEqual([])
    }
  })

  it('inside int8 and int4 tensors', async () => {
    for (const file of ['doc-int8-activations.mcf', 'doc-int4-weights.mcf']) {
      const bytes = fixtureBytes('mcf', file)
      const { tensors } = await openModel(source(bytes))
      const { offset } = tensors.at(0)!.data!.origin!
      const { findings } = await verifySource(source(flipped(bytes, offset + 63, 0)))
      expect(findings.find(({ code }) => code === 'mcf/padding')).toMatchObject({ offset: offset + 63 })
    }
  })

  it('behind an odd number of 4-bit codes', async () => {
    const tensor = sampleTensor('w', 'mcf.int4', [3])
    const payload = new Uint8Array(66)
    payload[65] = 0x10
    const data = {
      byteLength: 66,
      chunks: async function* () {
        yield payload
      },
    }
    const files = await convertToFiles(sampleModel([{ ...tensor, data }]), 'mcf')
    const { findings } = await verifySource(sourceOf(files))
    expect(findings.map(({ code }) => code)).toContain('mcf/padding')
  })
})
