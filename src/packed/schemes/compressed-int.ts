// compressed-tensors, `pack-quantized`: weight_packed [out, in·bits/32] has the codes of a row, weight_scale [out, groups] scales, and
// weight_zero_point [out·bits/32, groups], where the codes are not symmetric, zero points. Codes are stored plus half of their range.
import { viewOf } from '../../bytes/views.js'
import { i8, i32, i64 } from '../../dtypes/index.js'
import { readPayload, type Tensor } from '../../model/index.js'
import { columnGroups, groupSize } from '../groups.js'
import { readCodes, wordBytes } from '../read-codes.js'
import { refusePacked, shapeOf } from '../refusal.js'
import { floatInput, type PackedMatrix, rowInput } from '../rows.js'
import { type Members, member, type PackedWeight, type Scheme } from '../scheme.js'
import { isSettings, methodOf, type Settings, wholeNumber } from '../settings.js'
import { affineRow, sharedGroup } from './affine.js'

export const compressedInt: Scheme = {
  id: 'compressed-tensors int',
  isIn: (settings) => methodOf(settings) === 'compressed-tensors',
  names: {
    codes: '.weight_packed',
    weight: '.weight',
    beside: { scales: '.weight_scale', shape: '.weight_shape' },
    optional: { zeros: '.weight_zero_point', groups: '.weight_g_idx' },
    unused: ['.input_scale', '.input_zero_point', '.output_scale', '.k_scale', '.v_scale'],
  },
  isCodes: ({ dtype, shape }) => dtype === i32 && shape.length === 2,
  bits: (group) => [2, 3, 4, 8].find((bits) => bits === wholeNumber(weightSettings(group), 'num_bits')),
  sharing: (group) => sharedGroup({ settings: weightSettings(group) }),
  matrix,
}

/**
 * What the configuration says about a weight. Groups of modules can differ; they are named by patterns, which are not needed: the shapes of codes
 * and scales show which group a weight is in. Empty where they do not.
 */
export function weightSettings({ settings, codes, beside }: Pick<Members, 'settings' | 'codes' | 'beside'>): Settings {
  const groups = isSettings(settings.config_groups) ? Object.values(settings.config_groups) : []
  const all = groups.flatMap((group) => (isSettings(group) && isSettings(group.weights) ? [group.weights] : []))
  const weights = all.length === 1 ? all : all.filter((each) => fits(each, codes, beside.scales))
  const [first] = weights
  const isOne = weights.every(
    (each) => each.num_bits === first?.num_bits && each.group_size === first?.group_size && each.type === first?.type,
  )
  return first && isOne ? first : {}
}

/** Whether codes and scales of such shapes belong to a weight with these settings. */
function fits(weights: Settings, codes: Tensor, scales: Tensor | undefined): boolean {
  const bits = wholeNumber(weights, 'num_bits')
  const size = wholeNumber(weights, 'group_size')
  const [width, count] = [codes.shape.at(-1) ?? 1, scales?.shape.at(-1) ?? 1]
  if (bits === undefined || (weights.type === 'float') !== (codes.dtype.kind === 'float')) return false
  if (codes.dtype !== i32) return size === undefined || size <= 0 ? count === 1 : Math.ceil(width / size) === count
  // The last word of a row may be filled up.
  if (size === undefined || size <= 0) return count === 1
  const min = size * (count - 1) + 1
  return wordBytes(size * count, bits) >= width * 4 && wordBytes(min, bits) <= width * 4
}

async function matrix(group: PackedWeight, signal?: AbortSignal): Promise<PackedMatrix> {
  const { bits } = group
  const codes = member(group, 'codes', 2)
  const scales = member(group, 'scales', 2)
  const { zeros, groups: list } = group.beside
  const [rows, words] = codes.shape as [number, number]
  const columns = await statedColumns(group, signal)
  if (wordBytes(columns, bits) !== words * 4)
    refusePacked(codes, `its shape is ${shapeOf(codes)}; rows of ${columns} ${bits}-bit codes were expected`)
  const count = scales.shape[1]!
  const size = groupSize(scales, columns, count, wholeNumber(weightSettings(group), 'group_size'))
  const groupsOf = columnGroups(columns, count, size, list)
  const zeroWords = wordBytes(rows, bits) / 4
  // Older versions did not pack zero points.
  const plainZeros = zeros?.dtype === i8 ? floatInput(zeros, rows, { columns: count }) : undefined
  if (zeros && !plainZeros && (zeros.dtype !== i32 || !zeros.data || zeros.data.byteLength !== zeroWords * count * 4))
    refusePacked(zeros, `its shape is ${shapeOf(zeros)}; [${zeroWords}, ${count}] of i32 was expected`)
  return {
    shape: [rows, columns],
    rows,
    columns,
    inputs: [
      rowInput(codes, rows, { columns: words }),
      floatInput(scales, rows, { columns: count }),
      ...(plainZeros ? [plainZeros] : []),
    ],
    tables: [...(zeros && !plainZeros ? [zeros] : []), ...(list ? [list] : [])],
    decode({ first, count: some, values, inputs: [packed, factors, plain], tables }) {
      const [groups, row] = [groupsOf(list && tables.at(-1)), new Uint8Array(columns)]
      const half = 2 ** (bits - 1)
      const points = new Float64Array(count).fill(half)
      const factor = viewOf(Float32Array, factors!.bytes, some * count)
      const signed = plain && viewOf(Float32Array, plain.bytes, some * count)
      const stored = zeros && !plain && viewOf(Uint32Array, tables[0]!, zeroWords * count)
      for (let i = 0; i < some; i++) {
        readCodes(packed!.bytes, i * words * 4, bits, row)
        if (signed) for (let g = 0; g < count; g++) points[g] = signed[i * count + g]! + half
        if (stored) for (let g = 0; g < count; g++) points[g] = codeDown(stored, g, count, first + i, bits)
        affineRow(row, groups, factor.subarray(i * count), points, values.subarray(i * columns, (i + 1) * columns))
      }
    },
  }
}

/** The code of a row in a column of words that lie `step` words apart. */
function codeDown(words: Uint32Array, column: number, step: number, row: number, bits: number): number {
  const bit = row * bits
  const at = Math.floor(bit / 32)
  const low = words[at * step + column]! >>> (bit % 32)
  const left = 32 - (bit % 32)
  const high = left < bits ? words[(at + 1) * step + column]! << left : 0
  return (low | high) & ((1 << bits) - 1)
}

/** Rows are padded to whole words; how long they are is in a tensor of two numbers. */
async function statedColumns(group: PackedWeight, signal?: AbortSignal): Promise<number> {
  const shape = member(group, 'shape', 1)
  const codes = member(group, 'codes', 2)
  if (shape.shape[0] !== 2 || (shape.dtype !== i64 && shape.dtype !== i32))
    refusePacked(shape, `its shape is ${shapeOf(shape)} of ${shape.dtype.id}; two whole numbers were expected`)
  const bytes = await readPayload(shape.data!, signal)
  const [rows, columns] = [0, 1].map((i) => Number(shape.dtype.codec!.element(bytes, i)))
  if (rows !== codes.shape[0] || !Number.isSafeInteger(columns) || columns! < 0)
    refusePacked(shape, `it says [${rows}, ${columns}], and the codes have the shape ${shapeOf(codes)}`)
  return columns!
}
