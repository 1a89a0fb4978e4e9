import { describe, expect, it } from 'vitest'
import { BlobSource } from '../../../src/bytes/index.js'
import { sharedOut } from '../../../src/convert/stages/share.js'
import { dtypeById } from '../../../src/dtypes/index.js'
import { rangePayload, type Tensor } from '../../../src/model/index.js'
import { castTensor } from '../../../src/transforms/cast.js'
import { fakePool } from '../../threads/fake-threads.js'

/** Of zeros, as many as it takes to fill this many bytes with the other type. */
function recoded(from: string, to: string, byteLength: number): Tensor {
  const [source, target] = [dtypeById(from)!, dtypeById(to)!]
  const columns = 256
  const shape = [Math.ceil(byteLength / target.byteLength([columns])!), columns]
  const bytes = source.byteLength(shape)!
  const data = rangePayload(new BlobSource(new Blob([new Uint8Array(bytes)]), 'f'), 0, bytes)
  return castTensor({ name: 'w', dtype: source, shape, order: 'row', role: 'weight', data }, target)
}

const isShared = (tensor: Tensor, threads: number, startCost = 0): boolean =>
  sharedOut([tensor], { pool: fakePool(threads, {}, startCost) }).at(0)!.data?.isMadeElsewhere === true

describe('what is recoded', () => {
  it('is shared out where computing it takes longer than handing it over', () => {
    expect(isShared(recoded('f32', 'ggml.q4_k', 1 << 18), 2)).toBe(true)
    expect(isShared(recoded('f32', 'ggml.q8_0', 6 << 20), 2)).toBe(true)
    expect(isShared(recoded('f32', 'f8_e4m3', 10 << 20), 2)).toBe(true)
    expect(isShared(recoded('f32', 'f16', 8 << 20), 2)).toBe(true)
  })

  it('stays here where it does not, however much it is; more threads make up for it', () => {
    const widened = recoded('bf16', 'f32', 32 << 20)
    expect(isShared(widened, 2)).toBe(false)
    expect(isShared(widened, 8)).toBe(true)
    expect(isShared(recoded('ggml.q8_0', 'f32', 16 << 20), 2)).toBe(false)
  })

  it('stays here where it is little, or threads would have to be started for it', () => {
    expect(isShared(recoded('f32', 'ggml.q4_k', 1 << 16), 2)).toBe(false)
    expect(isShared(recoded('f32', 'f16', 8 << 20), 2, 40e6)).toBe(false)
    expect(isShared(recoded('f32', 'ggml.q4_k', 8 << 20), 2, 40e6)).toBe(true)
  })

  it('is one payload afterwards where it was one before', () => {
    const tensor = recoded('f32', 'ggml.q4_k', 1 << 18)
    const shared = sharedOut([tensor, { ...tensor, name: 'v' }], { pool: fakePool(2, {}) })
    expect(shared.at(0)!.data).not.toBe(tensor.data)
    expect(shared.at(1)!.data).toBe(shared.at(0)!.data)
  })
})
