// Floats of four bits (E2M1), two in a byte with the first in the low half, and a scale for every 16 or 32 of a row. NVFP4 has scales of
// E4M3 and one more for the whole weight; MXFP4 has powers of two.
import { viewOf } from '../../bytes/views.js'
import { type DType, f4_e2m1, f8_e4m3, f8_e8m0, f32, u8 } from '../../dtypes/index.js'
import type { Tensor } from '../../model/index.js'
import { castTensor } from '../../transforms/cast.js'
import { refusePacked, shapeOf } from '../refusal.js'
import { floatInput, type PackedMatrix, rowInput } from '../rows.js'
import { type Members, member, type PackedWeight, type Scheme } from '../scheme.js'
import { methodOf } from '../settings.js'

const isBytes = ({ dtype }: Tensor): boolean => dtype === u8

/** compressed-tensors divides by the scale of the whole weight. */
export const compressedNvfp4: Scheme = {
  id: 'compressed-tensors nvfp4',
  isIn: (settings) => methodOf(settings) === 'compressed-tensors',
  names: {
    codes: '.weight_packed',
    weight: '.weight',
    beside: { scales: '.weight_scale', whole: '.weight_global_scale' },
    unused: ['.input_global_scale', '.input_scale'],
  },
  isCodes: isBytes,
  bits: () => 4,
  sharing: () => 'group 16',
  matrix: (group) => rowsOfHalves(group, { ...nvfp4, applyWhole: (scale, whole) => scale / whole }),
}

/** ModelOpt multiplies with it. With AWQ, activations are multiplied with a number for each column, which belongs to the weight. */
export const modeloptNvfp4: Scheme = {
  id: 'modelopt nvfp4',
  isIn: (settings) => ['modelopt', 'modelopt_fp4', undefined].includes(methodOf(settings)),
  names: {
    codes: '.weight',
    weight: '.weight',
    beside: { scales: '.weight_scale', whole: '.weight_scale_2' },
    optional: { smooth: '.pre_quant_scale' },
    unused: ['.input_scale', '.k_scale', '.v_scale'],
  },
  isCodes: isBytes,
  bits: () => 4,
  sharing: () => 'group 16',
  matrix: (group) => rowsOfHalves(group, { ...nvfp4, applyWhole: (scale, whole) => scale * whole }),
}

/** Scales are powers of two, stored as plain bytes, and there is none for the whole weight. */
export const compressedMxfp4: Scheme = {
  id: 'compressed-tensors mxfp4',
  isIn: (settings) => methodOf(settings) === 'compressed-tensors',
  names: {
    codes: '.weight_packed',
    weight: '.weight',
    beside: { scales: '.weight_scale' },
    unused: ['.input_global_scale', '.input_scale'],
  },
  isCodes: isBytes,
  bits: () => 4,
  sharing: () => 'group 32',
  matrix: mxRows,
}

/** Quark stores the same under the name of the weight. */
export const quarkMxfp4: Scheme = {
  ...compressedMxfp4,
  id: 'quark mxfp4',
  isIn: (settings) => methodOf(settings) === 'quark',
  names: {
    codes: '.weight',
    weight: '.weight',
    beside: { scales: '.weight_scale' },
    unused: ['.input_scale', '.output_scale'],
  },
}

/** The experts of gpt-oss: blocks [experts, out, in/32, 16] of bytes, scales without the last dimension. */
export const mxfp4: Scheme = {
  id: 'mxfp4',
  isIn: (settings) => ['mxfp4', undefined].includes(methodOf(settings)),
  names: { codes: '_blocks', weight: '', beside: { scales: '_scales' } },
  isCodes: ({ dtype, shape }) => dtype === u8 && shape.length >= 3 && shape.at(-1) === 16,
  bits: () => 4,
  sharing: () => 'group 32',
  matrix(group) {
    const codes = member(group, 'codes')
    const scales = member(group, 'scales', codes.shape.length - 1)
    const [blocks, bytes] = codes.shape.slice(-2) as [number, number]
    const flat = { ...codes, shape: [...codes.shape.slice(0, -2), blocks * bytes] }
    return mxRows({ ...group, codes: flat, beside: { scales } })
  },
}

/** A power of two for every 32 columns. */
function mxRows(group: PackedWeight): PackedMatrix {
  const scales = powersOfTwo(member(group, 'scales', group.codes.shape.length))
  return rowsOfHalves({ ...group, beside: { scales } }, { size: 32, type: f8_e8m0 })
}

/** Their type is often given as that of plain bytes. */
export const powersOfTwo = (scales: Tensor): Tensor => (scales.dtype === u8 ? { ...scales, dtype: f8_e8m0 } : scales)

interface Halves {
  /** How many elements share a scale. */
  readonly size: number
  readonly type: DType
  applyWhole?(scale: number, whole: number): number
}

const nvfp4 = { size: 16, type: f8_e4m3 } as const

export function rowsOfHalves(group: PackedWeight | Members, { size, type, applyWhole }: Halves): PackedMatrix {
  const codes = member(group, 'codes')
  const scales = member(group, 'scales', codes.shape.length)
  const whole = applyWhole && member(group, 'whole')
  const { smooth } = group.beside
  const outer = codes.shape.slice(0, -1)
  const rows = outer.reduce((product, dim) => product * dim, 1)
  const rowBytes = codes.shape.at(-1) ?? 0
  const columns = 2 * rowBytes
  const count = columns / size
  if (scales.dtype !== type || scales.shape.at(-1) !== count)
    refusePacked(
      scales,
      `its shape is ${shapeOf(scales)} of ${scales.dtype.id}; a ${type.id} for every ${size} of ${columns} columns was expected`,
    )
  if (whole?.shape.some((length) => length !== 1))
    refusePacked(whole, `its shape is ${shapeOf(whole)}; one number was expected`)
  if (smooth && smooth.dtype.byteLength([columns]) !== smooth.data?.byteLength)
    refusePacked(smooth, `its shape is ${shapeOf(smooth)}; a number for each of ${columns} columns was expected`)
  return {
    shape: [...outer, columns],
    rows,
    columns,
    inputs: [rowInput(codes, rows, { columns: rowBytes }), floatInput(scales, rows, { columns: count })],
    tables: [whole, smooth].flatMap((table) => (table ? [castTensor(table, f32)] : [])),
    decode({ count: some, values, inputs: [packed, factors], tables: [one, each] }) {
      const factor = viewOf(Float32Array, factors!.bytes, some * count)
      const all = one && viewOf(Float32Array, one, 1)[0]!
      f4_e2m1.codec!.toF32(packed!.bytes, values)
      for (let i = 0; i < some * count; i++) {
        const scale = all === undefined || !applyWhole ? factor[i]! : applyWhole(factor[i]!, all)
        for (let k = i * size; k < (i + 1) * size; k++) values[k]! *= scale
      }
      const smoothing = each && viewOf(Float32Array, each, columns)
      if (smoothing) for (let k = 0; k < some * columns; k++) values[k]! *= smoothing[k % columns]!
    },
  }
}
