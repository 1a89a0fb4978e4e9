// Floats or integers of eight bits with a scale for the whole weight, for each row, or for each block of rows and columns.
import { viewOf } from '../../bytes/views.js'
import type { Tensor } from '../../model/index.js'
import { refusePacked, shapeOf } from '../refusal.js'
import { floatInput, type PackedMatrix, rowInput } from '../rows.js'
import { type Members, member, type PackedWeight, type Scheme } from '../scheme.js'
import { methodOf, wholeNumber } from '../settings.js'
import { weightSettings } from './compressed-int.js'
import { powersOfTwo } from './fp4.js'

const isByte = ({ dtype }: Tensor): boolean => dtype.group.bytes === 1 && dtype.group.elements === 1
const isSmallFloat = (tensor: Tensor): boolean => isByte(tensor) && tensor.dtype.kind === 'float'

const activations = ['.input_scale', '.input_zero_point', '.output_scale', '.k_scale', '.v_scale']

/** Blocks of DeepSeek and others, whose scales are called inverse since they undo a division. */
export const fp8Blocks: Scheme = {
  id: 'fp8',
  isIn: (settings) => ['fp8', undefined].includes(methodOf(settings)),
  names: {
    codes: '',
    weight: '',
    beside: { scales: '_scale_inv' },
    unused: ['.activation_scale', '_activation_scale', ...activations],
  },
  isCodes: isSmallFloat,
  bits: () => 8,
  sharing,
  matrix: scaledMatrix(1),
}

/** What others call scales. Nothing but a weight of eight bits has them. */
const namesOfScales = [
  { codes: '.weight', scales: '.weight_scale' },
  // Experts in one tensor.
  { codes: '', scales: '_scale' },
  { codes: '.weight', scales: '.scale_weight' },
  { codes: '.weight', scales: '.qscale_weight' },
  { codes: '.weight', scales: '.scale' },
] as const

const fp8Methods = ['compressed-tensors', 'fp8', 'fbgemm_fp8', 'modelopt', 'quark', undefined]

export const fp8Rows: readonly Scheme[] = namesOfScales.map(({ codes, scales }) => ({
  id: 'fp8',
  isIn: (settings) => fp8Methods.includes(methodOf(settings)),
  names: {
    codes,
    weight: codes,
    beside: { scales },
    unused: ['.qscale_act', '.scale_input', '_activation_scale', ...activations],
  },
  isCodes: isSmallFloat,
  bits: () => 8,
  sharing,
  matrix: scaledMatrix(1),
}))

export const compressedInt8: Scheme = {
  id: 'compressed-tensors int',
  isIn: (settings) => methodOf(settings) === 'compressed-tensors',
  names: {
    codes: '.weight',
    weight: '.weight',
    beside: { scales: '.weight_scale' },
    optional: { zeros: '.weight_zero_point' },
    unused: activations,
  },
  isCodes: ({ dtype }) => dtype.id === 'i8',
  bits: () => 8,
  sharing,
  matrix: scaledMatrix(1),
}

/** bitsandbytes keeps the largest magnitude of each row, for which code 127 stands. */
export const bitsandbytesInt8: Scheme = {
  id: 'bitsandbytes int8',
  isIn: (settings) => ['bitsandbytes', undefined].includes(methodOf(settings)),
  names: { codes: '.weight', weight: '.weight', beside: { scales: '.SCB' }, unused: ['.weight_format'] },
  isCodes: ({ dtype, shape }) => dtype.id === 'i8' && shape.length === 2,
  bits: () => 8,
  sharing,
  matrix: scaledMatrix(127),
}

function sharing(group: Members): string {
  const { scales } = group.beside
  const counts = scales ? paddedShape(group.codes, scales) : undefined
  if (!counts || counts.every((count) => count === 1)) return 'one scale'
  const [down = 1, across = 1] = blockSizes(group, counts)
  return down === 1 && across === (group.codes.shape.at(-1) ?? 1)
    ? 'one scale per row'
    : `blocks of ${down} × ${across}`
}

/** The shape of the scales with as many dimensions as the weight; undefined where they do not go with it. */
function paddedShape({ shape }: Tensor, scales: Tensor): readonly number[] | undefined {
  if (scales.shape.every((count) => count === 1)) return shape.map(() => 1)
  if (scales.shape.length === shape.length) return scales.shape
  return scales.shape.length === shape.length - 1 ? [...scales.shape, 1] : undefined
}

/** How many rows and columns share a scale: stated, or all, or one. */
function blockSizes(group: Members, counts: readonly number[]): readonly [number, number] {
  const { codes, settings } = group
  const weights = weightSettings(group)
  const { block_structure: block } = weights
  const structure = typeof block === 'string' ? block.split('x').map(Number) : block
  const stated = [settings.weight_block_size, structure].find(Array.isArray) as unknown[] | undefined
  const width = wholeNumber(weights, 'group_size')
  const sizeOf = (axis: -1 | -2): number => {
    const [length, count] = [codes.shape.at(axis) ?? 1, counts.at(axis) ?? 1]
    if (count === 1) return Math.max(1, length)
    const size = stated?.at(axis) ?? (axis === -1 ? width : undefined)
    return typeof size === 'number' && Number.isSafeInteger(size) && size > 0 ? size : Math.ceil(length / count)
  }
  return [sizeOf(-2), sizeOf(-1)]
}

export function scaledMatrix(divisor: number): (group: PackedWeight) => PackedMatrix {
  return (group) => {
    const codes = member(group, 'codes')
    const stored = member(group, 'scales')
    // Plain bytes beside floats of eight bits are powers of two.
    const scales = codes.dtype.kind === 'float' ? powersOfTwo(stored) : stored
    const { zeros } = group.beside
    const counts = paddedShape(codes, scales)
    const [columns, perMatrix] = [codes.shape.at(-1) ?? 1, codes.shape.at(-2) ?? 1]
    const rows = codes.shape.slice(0, -1).reduce((product, dim) => product * dim, 1)
    const [down, across] = counts ? blockSizes(group, counts) : [1, 1]
    const [rowsOfScales, columnsOfScales] = [Math.ceil(perMatrix / down), Math.ceil(columns / across)]
    const isOne = counts?.every((count) => count === 1)
    const isCovered =
      counts !== undefined &&
      columnsOfScales === (counts.at(-1) ?? 1) &&
      rowsOfScales === (counts.at(-2) ?? 1) &&
      counts.slice(0, -2).every((count, axis) => count === codes.shape[axis] || isOne)
    if (!isCovered)
      refusePacked(
        scales,
        `scales of shape ${shapeOf(scales)} for blocks of [${down}, ${across}] do not cover ${shapeOf(codes)}`,
      )
    const rowOf = isOne
      ? () => 0
      : (row: number): number => Math.floor(row / perMatrix) * rowsOfScales + Math.floor((row % perMatrix) / down)
    const form = { columns: columnsOfScales, rowOf }
    return {
      shape: codes.shape,
      rows,
      columns,
      inputs: [
        rowInput(codes, rows, { columns }),
        floatInput(scales, rows, form),
        ...(zeros ? [floatInput(zeros, rows, form)] : []),
      ],
      tables: [],
      decode({ first, count, values, inputs: [packed, factors, points] }) {
        codes.dtype.codec!.toF32(packed!.bytes, values)
        const factor = viewOf(Float32Array, factors!.bytes, factors!.bytes.byteLength / 4)
        const point = points && viewOf(Float32Array, points.bytes, points.bytes.byteLength / 4)
        for (let i = 0; i < count; i++) {
          let at = (rowOf(first + i) - factors!.first) * columnsOfScales
          const last = (i + 1) * columns
          for (let start = i * columns; start < last; start += across, at++) {
            const end = Math.min(last, start + across)
            const [scale, zero] = [factor[at]!, point?.[at] ?? 0]
            if (divisor === 1 && !point) for (let k = start; k < end; k++) values[k]! *= scale
            else for (let k = start; k < end; k++) values[k] = ((values[k]! - zero) * scale) / divisor
          }
        }
      },
    }
  }
}
