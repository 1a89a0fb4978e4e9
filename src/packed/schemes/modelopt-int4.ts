// Four bits as ModelOpt stores them (W4A16_AWQ): a byte has the codes of one column in two rows, the upper row in the low half, with a sign. Scales are
// [rows, groups]. AWQ divided the columns by numbers that the activations are multiplied with, if those are not part of the layer before.
import { viewOf } from '../../bytes/views.js'
import { f32, u8 } from '../../dtypes/index.js'
import { castTensor } from '../../transforms/cast.js'
import { groupSize } from '../groups.js'
import { refusePacked, shapeOf } from '../refusal.js'
import { floatInput, type PackedMatrix, rowInput } from '../rows.js'
import { type Members, member, type PackedWeight, type Scheme } from '../scheme.js'
import { methodOf, wholeNumber } from '../settings.js'

const perByte = 2

export const modeloptInt4: Scheme = {
  id: 'modelopt int4',
  isIn: (settings) => ['modelopt', undefined].includes(methodOf(settings)),
  names: {
    codes: '.weight',
    weight: '.weight',
    beside: { scales: '.weight_scale' },
    optional: { smooth: '.pre_quant_scale', second: '.weight_scale_2' },
    unused: ['.input_scale', '.k_scale', '.v_scale'],
  },
  isCodes: ({ dtype, shape }) => dtype === u8 && shape.length >= 2,
  bits: (group) => (fitsRows(group) ? 4 : undefined),
  sharing: ({ codes, beside: { scales } }) => `group ${codes.shape.at(-1)! / scales!.shape.at(-1)!}`,
  matrix,
}

/** Types with two scales are others, and so are those whose scales are not floats for each row. */
const fitsRows = ({ codes, beside: { scales, second } }: Members): boolean =>
  second === undefined &&
  scales !== undefined &&
  ['f32', 'f16', 'bf16'].includes(scales.dtype.id) &&
  scales.shape.length === codes.shape.length &&
  scales.shape.at(-2) === perByte * codes.shape.at(-2)!

function matrix(group: PackedWeight): PackedMatrix {
  const codes = member(group, 'codes')
  const scales = member(group, 'scales', codes.shape.length)
  const [halves, columns] = codes.shape.slice(-2) as [number, number]
  const shape = [...codes.shape.slice(0, -2), perByte * halves, columns]
  const rows = shape.slice(0, -1).reduce((product, dim) => product * dim, 1)
  const count = scales.shape.at(-1)!
  const size = groupSize(scales, columns, count, wholeNumber(group.settings, 'group_size'))
  const { smooth } = group.beside
  if (smooth && smooth.dtype.byteLength([columns]) !== smooth.data?.byteLength)
    refusePacked(smooth, `its shape is ${shapeOf(smooth)}; a number for each of ${columns} columns was expected`)
  return {
    shape,
    rows,
    columns,
    inputs: [
      rowInput(codes, rows, { columns, rowOf: (row) => Math.floor(row / perByte) }),
      floatInput(scales, rows, { columns: count }),
    ],
    tables: smooth ? [castTensor(smooth, f32)] : [],
    decode({ first, count: some, values, inputs: [packed, factors], tables: [table] }) {
      const factor = viewOf(Float32Array, factors!.bytes, some * count)
      const smoothing = table && viewOf(Float32Array, table, columns)
      for (let i = 0; i < some; i++) {
        const from = (Math.floor((first + i) / perByte) - packed!.first) * columns
        const shift = 28 - 4 * ((first + i) % perByte)
        for (let g = 0; g < count; g++) {
          const scale = factor[i * count + g]!
          const end = Math.min(columns, (g + 1) * size)
          for (let c = g * size; c < end; c++)
            values[i * columns + c] = ((packed!.bytes[from + c]! << shift) >> 28) * scale
        }
        if (smoothing) for (let c = 0; c < columns; c++) values[i * columns + c]! *= smoothing[c]!
      }
    },
  }
}
