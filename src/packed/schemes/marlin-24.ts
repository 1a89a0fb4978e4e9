// Weights of which two in four are zero, packed for the kernels of Sparse Marlin: codes of the others, and where they stand in an order that the GPU
// wants. Libraries write it and none reads it back, so it is named and not decoded.
import { i32 } from '../../dtypes/index.js'
import type { Tensor } from '../../model/index.js'
import { refusePacked } from '../refusal.js'
import type { PackedWeight, Scheme } from '../scheme.js'
import { methodOf, wholeNumber } from '../settings.js'
import { weightSettings } from './compressed-int.js'

const common = {
  isCodes: ({ dtype, shape }: Tensor) => dtype === i32 && shape.length === 2,
  sharing: () => '2:4 sparse',
  matrix: ({ codes }: PackedWeight) =>
    refusePacked(codes, 'weights of which two in four are zero, in the layout of Marlin kernels, cannot be decoded'),
}

export const marlin24: readonly Scheme[] = [
  {
    ...common,
    id: 'compressed-tensors marlin-24',
    isIn: (settings) => methodOf(settings) === 'compressed-tensors',
    names: { codes: '.weight_packed', weight: '.weight', beside: { scales: '.scale_packed', places: '.meta' } },
    bits: (group) => (wholeNumber(weightSettings(group), 'num_bits') === 8 ? 8 : 4),
  },
  {
    ...common,
    id: 'gptq marlin-24',
    isIn: ({ checkpoint_format: form, ...settings }) =>
      methodOf(settings) === 'gptq_marlin_24' || (methodOf(settings) === 'gptq' && form === 'marlin_24'),
    names: {
      codes: '.B_24',
      weight: '.weight',
      beside: { scales: '.s', places: '.B_meta' },
      unused: ['.workspace'],
    },
    bits: ({ settings }) => (wholeNumber(settings, 'bits') === 8 ? 8 : 4),
  },
]
