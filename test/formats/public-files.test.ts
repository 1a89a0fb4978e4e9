// Files of public projects that once broke something. They are not ours to publish, so they are read from beside the project.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hashModel, MemorySource, openModel, planConversion, type VerifyResult, verifySource } from '../../src/kit.js'
import { fixturesRoot } from '../support/fixtures.js'

const folder = join(fixturesRoot, '..', '..', 'shared', 'fixtures', 'regressions')
const source = (name: string): MemorySource => new MemorySource(new Uint8Array(readFileSync(join(folder, name))), name)
const verify = (name: string): Promise<VerifyResult> => verifySource(source(name))

describe.skipIf(!existsSync(folder))('files of public projects', () => {
  it('a constant that occurs twice', async () => {
    expect((await verify('gpt2_past.onnx')).verdict).toBe('warnings')
    const model = await openModel(source('gpt2_past.onnx'))
    const names = model.tensors.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect((await hashModel(model)).tensors).toHaveLength(1199)
    const options = { name: 'x.safetensors', without: ['onnx.graph'] }
    expect((await planConversion(model, 'safetensors', options)).plan.unrequestedLoss).not.toBe('content')
  })

  it('equal names in graphs beside each other', async () => {
    expect((await verify('nested_if_loop_if.onnx')).verdict).toBe('ok')
    const { tensors } = await openModel(source('nested_if_loop_if.onnx'))
    expect(tensors.map(({ name }) => name)).toEqual(['two_const', 'one_const', 'one_const@2'])
  })

  it('bytes of two int4 with a sign', async () => {
    expect((await verify('conv.int4.int8.qdq.onnx')).verdict).toBe('ok')
  })

  it('an array of objects among arrays of numbers', async () => {
    const { verdict, findings } = await verify('GROW7.npz')
    expect([verdict, findings.map(({ code }) => code)]).toEqual(['errors', ['npz/unreadable', 'npy/object-array']])
    const { tensors, parts } = await openModel(source('GROW7.npz'))
    expect(tensors.map(({ name }) => name)).toEqual(['c', 'obj', 'A_ub', 'A_eq', 'b_ub', 'b_eq'])
    expect(parts).toMatchObject([{ kind: 'npz.unread', name: 'bounds.npy' }])
  })

  it('an array of records', async () => {
    const { tensors } = await openModel(source('record.npy'))
    expect(tensors.map(({ name, dtype, shape }) => [name, dtype.id, shape])).toEqual([
      ['x', 'i32', [2, 1]],
      ['y', 'f32', [2, 1]],
    ])
  })

  it('functions that are stored and not called', async () => {
    const { verdict, findings } = await verify('multi_file_model.pth')
    expect(verdict).toBe('warnings')
    expect(findings.filter(({ code }) => code === 'torch/stored-global')).toHaveLength(2)
    expect((await openModel(source('multi_file_model.pth'))).metadata.size).toBe(3)
  })
})
