// The types of defineModel; `tsc` checks that each marked line is an error.
import { expect, test } from 'vitest'
import { asFloat, defineModel, packModel } from '../../src/kit.js'

test('checks names, shapes and values while compiling, and changes nothing', async () => {
  const description = defineModel({
    sizevars: { B: 2, D: 3n, later: null },
    metadata: {
      lr: asFloat(1),
      mode: 'fast',
      mask: { bitset: '101' },
      table: { value: [[1, 2]], dtype: 'i8', shape: [1, 2] },
    },
    tensors: {
      w: { dtype: 'f32', shape: ['B', 'D', '2*B', 'B * D', 4], data: null },
      b: [1, 2, 3],
      q: { data: [1, 2], dtype: 'i8', quant: { scheme: 'symmetric', scales: [0.5] } },
    },
  })
  expect(Object.keys(description.sizevars!)).toEqual(['B', 'D', 'later'])

  // @ts-expect-error: E is not declared
  defineModel({ sizevars: { B: 2 }, tensors: { w: { shape: ['E'] } } })
  // @ts-expect-error: a product starts with something known
  defineModel({ sizevars: { B: 2 }, tensors: { w: { shape: ['E*B'] } } })
  // @ts-expect-error: no size variables at all
  defineModel({ tensors: { w: { shape: ['B'] } } })
  // @ts-expect-error: a mistyped field
  defineModel({ tensors: { w: { dtpye: 'f32', data: [1] } } })
  // @ts-expect-error: no such scheme
  defineModel({ tensors: { w: { data: [1], quant: { scheme: 'affine', scales: 1 } } } })
  // @ts-expect-error: texts are no tensor
  defineModel({ tensors: { w: ['a'] } })

  const model = await packModel(defineModel({ sizevars: { B: 2 }, tensors: { w: { shape: ['B'], data: [1, 2] } } }))
  expect(model.tensors.at(0)!.shape).toEqual([2])
})
