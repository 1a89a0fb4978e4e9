import { describe, expect, it } from 'vitest'
import { dtypeById, formats, hashModel, openModel, planConversion, type Tensor } from '../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'

const actionsOf = async (tensor: Tensor, target: string, stow = true) =>
  (await planConversion(sampleModel([tensor]), target, { name: 'x', stow })).plan

describe('a type that the target lacks', () => {
  it.each([
    ['i4', 'safetensors', 'i8', 'none'],
    ['u2', 'safetensors', 'u8', 'none'],
    ['f8_e4m3', 'mcf', 'f16', 'none'],
    ['bool', 'mcf', 'u8', 'none'],
    ['bf16', 'primitiv', 'f32', 'form'],
    ['f64', 'primitiv', 'f32', 'precision'],
    ['c128', 'safetensors', 'c64', 'precision'],
  ] as const)('%s in %s becomes %s, loss %s', async (from, target, to, loss) => {
    const plan = await actionsOf(sampleTensor('a', from, [4, 8]), target)
    expect(plan.actions.at(0)).toMatchObject({ action: 'cast', from, to, loss })
    expect(plan.loss).toBe(loss)
  })

  it('is dequantized when it is a block', async () => {
    const plan = await actionsOf(sampleTensor('a', 'ggml.q8_0', [4, 32]), 'safetensors')
    expect(plan.actions.at(0)).toMatchObject({ action: 'dequantize', from: 'ggml.q8_0', to: 'f32', loss: 'form' })
  })

  it('is dropped, with a reason, when nothing fits', async () => {
    const plan = await actionsOf(sampleTensor('a', 'c64', [4]), 'primitiv')
    expect(plan.actions.at(0)).toMatchObject({ action: 'drop', loss: 'content' })
    expect(plan.actions.at(0)!.reason).not.toBe('')
  })

  it('does not lose quantization parameters in silence', async () => {
    const tensor = { ...sampleTensor('a', 'i8', [4]), quant: { scheme: 'symmetric', scales: [0.5] } as const }
    const dropped = await actionsOf(tensor, 'safetensors', false)
    expect(dropped.loss).toBe('content')
    expect(dropped.actions).toContainEqual(expect.objectContaining({ action: 'drop', name: 'quantization of a' }))
    const stowed = await actionsOf(tensor, 'safetensors')
    expect(stowed.loss).toBe('none')
    expect(stowed.actions).toContainEqual(expect.objectContaining({ action: 'stow', name: 'quantization of a' }))
  })
})

describe('every writable format takes plain f32 weights', () => {
  it.each(formats.filter((format) => format.capabilities.write).map((format) => format.id))('%s', async (id) => {
    const most = formats.find((format) => format.id === id)!.capabilities.write?.maxTensors ?? 2
    const tensors = [sampleTensor('a.weight', 'f32', [4, 6], 1), sampleTensor('b.weight', 'f32', [5], 2)].slice(0, most)
    const model = sampleModel(tensors)
    const { plan } = await planConversion(model, id, {
      name: `x${formats.find((format) => format.id === id)!.extensions[0]}`,
    })
    expect(['none', 'form']).toContain(plan.loss)
    // A file with room for one tensor has none for its name: the file's own name is the tensor's.
    const name = most === 1 ? `a.weight${formats.find((format) => format.id === id)!.extensions[0]}` : 'out'
    const back = await openModel(sourceOf(await convertToFiles(model, id, { name })))
    expect((await hashModel(back)).fingerprint).toBe((await hashModel(model)).fingerprint)
  })
})

it('knows all types that it offers', () => {
  for (const id of ['u8', 'i8', 'f16', 'bf16', 'f32', 'f64', 'c64', 'c128']) expect(dtypeById(id), id).toBeDefined()
})
