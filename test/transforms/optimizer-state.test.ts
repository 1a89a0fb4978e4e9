import { describe, expect, it } from 'vitest'
import type { Model, Tensor } from '../../src/model/index.js'
import { attachState, dropState } from '../../src/transforms/optimizer-state.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

const weight = (name: string): Tensor => sampleTensor(name, 'f32', [2])
const state = (name: string, stat: string): Tensor => ({ ...weight(`${name}#${stat}`), role: 'state', stat })
const names = (model: Model): string[] => model.tensors.map((tensor) => tensor.name)

describe('state', () => {
  it('is dropped', () => {
    const tensors = [weight('a'), state('a', 'm'), weight('a#z'), weight('b#m'), state('c', 'm')]
    expect(names(dropState(sampleModel(tensors)))).toEqual(['a', 'b#m'])
  })

  it('is taken from another model', () => {
    const from = sampleModel([weight('a'), state('a', 'z'), state('a', 'm'), state('gone', 'm')])
    const { model, count, unmatched } = attachState(sampleModel([weight('b'), weight('a')]), from)
    expect(names(model)).toEqual(['b', 'a', 'a#m', 'a#z'])
    expect(count).toBe(2)
    expect(unmatched).toEqual(['gone#m'])
    expect(model.tensors.at(2)).toMatchObject({ role: 'state', stat: 'm' })
  })

  it('is known by its name where the format has no roles', () => {
    const flat = sampleModel([
      weight('a'),
      weight('a#m'),
      weight('a#x#y'),
      weight('b'),
      weight('b#1'),
      weight('free#m'),
    ])
    const { model, count } = attachState(flat, flat)
    expect(model.tensors.map(({ name, role, stat }) => [name, role, stat])).toEqual([
      ['a', 'weight', undefined],
      ['a#m', 'state', 'm'],
      ['a#x#y', 'state', 'x#y'],
      ['b', 'weight', undefined],
      ['b#1', 'state', '1'],
      ['free#m', 'weight', undefined],
    ])
    expect(count).toBe(3)
  })

  it('replaces ordinary tensors of its name, as when a file is opened twice', () => {
    const flat = (): Model => sampleModel([weight('a'), weight('a#m'), weight('b#m')])
    const { model, count } = attachState(flat(), flat())
    expect(model.tensors.map(({ name, role }) => [name, role])).toEqual([
      ['a', 'weight'],
      ['a#m', 'state'],
      ['b#m', 'weight'],
    ])
    expect(count).toBe(1)
  })

  it('belongs to the longest name that fits', () => {
    const flat = sampleModel([weight('a'), weight('a#b'), state('a#b', 'm')])
    const { model } = attachState(sampleModel([weight('a'), weight('a#b')]), {
      ...flat,
      tensors: [flat.tensors.at(2)!],
    })
    expect(names(model)).toEqual(['a', 'a#b', 'a#b#m'])
    expect(model.tensors.at(2)!.stat).toBe('m')
  })

  it('replaces what was there, and leaves the rest in its order', () => {
    const old = { ...state('a', 'm'), shape: [1, 2] }
    const { model } = attachState(
      sampleModel([weight('a'), state('a', 'z'), old, state('a', 'k')]),
      sampleModel([state('a', 'm'), state('a', 'b')]),
    )
    expect(names(model)).toEqual(['a', 'a#z', 'a#k', 'a#b', 'a#m'])
    expect(model.tensors.at(4)!.shape).toEqual([2])
  })

  it('takes over the path of its parameter', () => {
    const owner: Tensor = {
      ...weight('s.w'),
      path: ['s', 'w'],
      rawName: [new Uint8Array([0x73]), new Uint8Array([0xff])],
    }
    const { model } = attachState(sampleModel([owner]), sampleModel([weight('s.w'), weight('s.w#m')]))
    expect(model.tensors.at(1)).toMatchObject({
      path: ['s', 'w'],
      rawName: [...owner.rawName!, new Uint8Array([0x6d])],
      stat: 'm',
    })
    const plain = attachState(sampleModel([weight('s.w')]), sampleModel([{ ...state('s.w', 'm'), path: ['s', 'w'] }]))
    expect(plain.model.tensors.at(1)!.path).toBeUndefined()
  })
})
