import fc from 'fast-check'
import { expect, it } from 'vitest'
import { TensorNames } from '../../src/convert/tensor-names.js'
import { ChosenTensors } from '../../src/model/chosen-tensors.js'
import { PackedTensors } from '../../src/model/packed-tensors.js'
import { sampleTensor } from '../support/sample-model.js'

const base = PackedTensors.from(Array.from({ length: 20 }, (_, i) => sampleTensor(`t${i}`, 'f32', [i])))
const others = Array.from({ length: 20 }, (_, i) => sampleTensor(`other${i}`, 'i8', [i]))
const choices = fc.array(fc.record({ position: fc.nat(19), isOther: fc.boolean() }), { maxLength: 60 })

it('what was kept and what was put in come out in order, and their names', () => {
  fc.assert(
    fc.property(choices, (list) => {
      const chosen = new ChosenTensors(base)
      const names = new TensorNames(base)
      for (const { position, isOther } of list) {
        if (isOther) chosen.push(others[position]!)
        else chosen.keep(position)
        names.add(position, isOther ? others[position]!.name : undefined)
      }
      const wanted = list.map(({ position, isOther }) => (isOther ? others[position]! : base.at(position)!))
      expect([...chosen]).toEqual(wanted)
      expect([...names]).toEqual(wanted.map(({ name }) => name))
    }),
  )
})
