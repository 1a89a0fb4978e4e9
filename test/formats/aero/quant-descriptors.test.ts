import { encode } from '@msgpack/msgpack'
import { describe, expect, it } from 'vitest'
import { MemorySource, openModel } from '../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'
import { aeroBytes, entry, index, weights } from './build.js'

const row = (id: number, type: number, codec = 'ggml') => ({
  id,
  codec,
  quant_name: 'any',
  params: { ggml_type: type },
})
const manifest = (list: unknown) => ({ fourcc: 'MMSG', name: 'manifest', bytes: encode({ quant_descriptors: list }) })
const json = (list: unknown) => ({
  fourcc: 'MJSN',
  name: 'meta.json',
  bytes: new TextEncoder().encode(JSON.stringify({ quant_descriptors: list })),
})
/** 32 elements are 18 bytes of Q4_0 (2) and 34 of Q8_0 (8). */
const packed = (length: number, more = {}) =>
  index(entry('q', { dtype: 0x8000, shape: [32], data_len: length, quant_id: 1, ...more }))

describe('a packed tensor that only points at its descriptor', () => {
  it.each([
    ['the manifest', [manifest([row(0, 2), row(1, 8)])]],
    ['the metadata', [json([row(0, 2), row(1, 8)])]],
    ['the manifest before the metadata', [json([row(1, 2)]), manifest([row(1, 8)])]],
    ['the metadata, where the manifest does not know it', [json([row(1, 8)]), manifest([row(0, 2)])]],
    [
      'its place in the list',
      [
        manifest([
          { ...row(0, 2), id: undefined },
          { ...row(0, 8), id: undefined },
        ]),
      ],
    ],
  ])('gets its type from %s', async (_, chunks) => {
    const bytes = await aeroBytes([...chunks, packed(34), weights(34)])
    const model = await openModel(new MemorySource(bytes, 'x.aero'))
    expect(model.tensors.at(0)).toMatchObject({ dtype: { id: 'packed' }, encoding: { id: 'ggml.q8_0' } })
    const again = await openModel(sourceOf(await convertToFiles(model, 'aero', { align: 32 })))
    expect(again.tensors.at(0)).toMatchObject({
      encoding: { id: 'ggml.q8_0' },
      extra: { quant_params: { ggml_type: 8 } },
    })
  })

  it.each([
    ['of another codec', [manifest([row(1, 8, 'mine')])], {}],
    ['that nobody describes', [], {}],
    ['whose descriptor makes no sense', [manifest([5, { id: 1, codec: 'ggml', params: [] }])], {}],
  ])('stays as it is: %s', async (_, chunks, more) => {
    const bytes = await aeroBytes([...chunks, packed(34, more), weights(34)])
    const { tensors } = await openModel(new MemorySource(bytes, 'x.aero'))
    expect(tensors.at(0)!.encoding).toBeUndefined()
    expect(tensors.at(0)!.extra).toEqual({ quant_id: 1 })
  })

  it('goes by its own params where it has them', async () => {
    const own = packed(18, { quant_params: { ggml_type: 2 } })
    const bytes = await aeroBytes([manifest([row(1, 8)]), own, weights(18)])
    const { tensors } = await openModel(new MemorySource(bytes, 'x.aero'))
    expect(tensors.at(0)!.encoding?.id).toBe('ggml.q4_0')
  })
})

it('an element type without a number in AERO is not packed, whatever stands beside it', async () => {
  const bytes = await aeroBytes([packed(18, { dtype: 0x8001, quant_params: { ggml_type: 2 } }), weights(18)])
  const model = await openModel(new MemorySource(bytes, 'x.aero'))
  expect(model.tensors.at(0)!.encoding).toBeUndefined()
  const again = await openModel(sourceOf(await convertToFiles(model, 'aero', { align: 32 })))
  expect(again.tensors.at(0)!.extra).toMatchObject({ dtype: 0x8001 })
})
