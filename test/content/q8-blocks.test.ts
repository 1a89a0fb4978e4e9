import { describe, expect, it } from 'vitest'
import { blocksToQ8, q8ToBlocks } from '../../src/content/q8-blocks.js'
import { dtypeById } from '../../src/dtypes/index.js'
import { formatById, planConversion } from '../../src/kit.js'
import { bytesPayload, readPayload, type Tensor } from '../../src/model/index.js'
import { decodedPayload } from '../../src/transforms/decode.js'
import { convertToFiles } from '../support/convert.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

const ignore = (): void => {}
const q8 = (shape: readonly number[], seed = 3): Tensor => sampleTensor('w', 'mcf.q8', shape, seed)
const asBlocks = (tensor: Tensor): Tensor => ({
  ...tensor,
  dtype: dtypeById('ggml.q8_0')!,
  data: q8ToBlocks(tensor.data!, tensor.shape)!,
})
const decoded = async (tensor: Tensor): Promise<Uint8Array> => readPayload(decodedPayload(tensor, 'f32')!)

describe('q8 and Q8_0', () => {
  it.each([[[3, 64]], [[1, 32]], [[300, 1024]]])('%j: other places, the same values to the last bit', async (shape) => {
    const tensor = q8(shape)
    const blocks = asBlocks(tensor)
    expect(blocks.data!.byteLength).toBe(blocks.dtype.byteLength(shape))
    expect(Buffer.compare(await decoded(blocks), await decoded(tensor))).toBe(0)
    const back = { ...tensor, data: bytesPayload(await readPayload(blocksToQ8(blocks.data!, shape, ignore)!)) }
    expect(Buffer.compare(await decoded(back), await decoded(tensor))).toBe(0)
    const again = asBlocks(back)
    expect(Buffer.compare(await readPayload(again.data!), await readPayload(blocks.data!))).toBe(0)
  })

  it('knows no minus zero under a scale of zero', async () => {
    const tensor = q8([1, 64])
    const bytes = (await readPayload(tensor.data!)).slice()
    bytes.set([0, 0x80], 2)
    const zeroed = { ...tensor, data: bytesPayload(bytes) }
    expect(Buffer.compare(await decoded(asBlocks(zeroed)), await decoded(zeroed))).toBe(0)
  })

  it('can be read in parts', async () => {
    const { data } = asBlocks(q8([4, 96]))
    const whole = await readPayload(data!)
    for (const [offset, length] of [
      [0, 1],
      [33, 3],
      [68, 34],
      [whole.length - 1, 1],
      [7, 0],
    ] as const) {
      expect(await data!.read!(offset, length)).toEqual(whole.subarray(offset, offset + length))
    }
    await expect(data!.read!(whole.length, 1)).rejects.toMatchObject({ code: 'io/out-of-range' })
  })

  it('are told apart where rows end within a block, or bytes are missing', () => {
    const odd = q8([2, 40])
    expect(q8ToBlocks(odd.data!, odd.shape)).toBeUndefined()
    expect(q8ToBlocks(q8([2, 64]).data!, [2, 96])).toBeUndefined()
    expect(q8ToBlocks({ byteLength: 1, async *chunks() {} }, [2, 64])).toBeUndefined()
    expect(blocksToQ8(bytesPayload(new Uint8Array(34)), [2, 32], ignore)).toBeUndefined()
    expect(blocksToQ8(bytesPayload(new Uint8Array(34)), [32], ignore)).toBeUndefined()
  })

  it.each([
    ['NaN', [0x01, 0x7c]],
    ['minus NaN', [0x00, 0xfe]],
    ['infinite', [0x00, 0x7c]],
    ['minus infinite', [0x00, 0xfc]],
  ])('a scale that is %s is refused by name and block, and nothing is written', async (_, scale) => {
    const bytes = new Uint8Array(4 * 34).fill(1)
    bytes.set(scale, 2 * 34)
    const blocks: Tensor = { ...q8([2, 64]), dtype: dtypeById('ggml.q8_0')!, data: bytesPayload(bytes) }
    await expect(convertToFiles(sampleModel([blocks]), 'mcf', { name: 'o.mcf' })).rejects.toMatchObject({
      code: 'write/value-range',
      finding: { path: 'w', message: expect.stringContaining('block 2 ') },
    })
  })

  it('infinite scales are kept where the recorded range explains them, as the reference writes them', async () => {
    const bytes = new Uint8Array(4 * 34).fill(1)
    bytes.set([0x00, 0x7c], 2 * 34)
    const extra = { quantInfo: { minClip: -1e9, maxClip: 1e9 } }
    const dtype = dtypeById('ggml.q8_0')!
    const fit = formatById('mcf')!.capabilities.write!.tensor({
      ...q8([2, 64]),
      dtype,
      extra,
      data: bytesPayload(bytes),
    })
    expect(fit.fits).toBe(true)
    const written = await readPayload((fit as { as: Tensor }).as.data!)
    expect([...written.subarray(4, 6)]).toEqual([0x00, 0x7c])
  })

  it('is a change of form in the plan of a conversion to GGUF', async () => {
    const { plan } = await planConversion(sampleModel([q8([2, 64])]), 'gguf', { name: 'o.gguf' })
    expect(plan.actions.at(0)).toMatchObject({ subject: 'tensor', action: 'map', loss: 'form' })
    expect(plan.loss).toBe('form')
    const odd = formatById('gguf')!.capabilities.write!.tensor(q8([2, 40]))
    expect(odd).toMatchObject({ fits: false })
  })
})
