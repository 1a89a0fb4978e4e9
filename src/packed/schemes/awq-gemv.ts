// AWQ as `gemv` kernels want it: qweight [out, in/8] has the codes of a row in order, and qzeros and scales lie along rows, too, padded to a
// width that the kernels can load. `gemv_fast` stores an offset in place of each zero point, and the codes in words of 16 bits: in 64 columns
// the codes of four rows follow one another, each row with its columns in the order in which the kernels unpack them.
import { viewOf } from '../../bytes/views.js'
import { i16, i32 } from '../../dtypes/index.js'
import { columnGroups } from '../groups.js'
import { codeAt, readCodes } from '../read-codes.js'
import { refusePacked, shapeOf } from '../refusal.js'
import { floatInput, rowInput } from '../rows.js'
import { member, type PackedWeight, type Scheme } from '../scheme.js'
import { usesLayout } from '../settings.js'
import { affineRow, sharedGroup } from './affine.js'
import { awqBits, awqGroup, awqVersion } from './awq.js'

const perWord = 8

export const awqGemv: Scheme = {
  id: 'awq gemv',
  isIn: (settings) => usesLayout(settings, 'awq') && awqVersion(settings) === 'gemv',
  names: { codes: '.qweight', weight: '.weight', beside: { zeros: '.qzeros', scales: '.scales' } },
  isCodes: ({ dtype, shape }) => dtype === i32 && shape.length === 2,
  bits: awqBits,
  sharing: sharedGroup,
  matrix(group) {
    const codes = member(group, 'codes', 2)
    const scales = member(group, 'scales', 2)
    const zeros = member(group, 'zeros', 2)
    const [rows, words] = codes.shape as [number, number]
    const columns = words * perWord
    const width = zeros.shape[1]! * perWord
    if (zeros.dtype !== i32 || zeros.shape[0] !== rows)
      refusePacked(zeros, `its shape is ${shapeOf(zeros)} of ${zeros.dtype.id}; ${rows} rows of i32 were expected`)
    if (scales.shape[1] !== width)
      refusePacked(scales, `its shape is ${shapeOf(scales)}; rows of ${width} were expected`)
    const { count, groupsOf } = paddedGroups(group, columns, width)
    return {
      shape: [rows, columns],
      rows,
      columns,
      inputs: [
        rowInput(codes, rows, { columns: words }),
        rowInput(zeros, rows, { columns: width / perWord }),
        floatInput(scales, rows, { columns: width }),
      ],
      tables: [],
      decode({ count: some, values, inputs: [packed, packedZeros, factors] }) {
        const [groups, row, points] = [groupsOf(), new Uint8Array(columns), new Float64Array(count)]
        const factor = viewOf(Float32Array, factors!.bytes, some * width)
        for (let i = 0; i < some; i++) {
          readCodes(packed!.bytes, i * words * 4, 4, row)
          for (let g = 0; g < count; g++) points[g] = codeAt(packedZeros!.bytes, (i * width) / 2, g, 4)
          affineRow(row, groups, factor.subarray(i * width), points, values.subarray(i * columns, (i + 1) * columns))
        }
      },
    }
  },
}

const [interleaved, stride] = [4, 64]

/** Where the code of a column lies among those of its 32. */
const placeOf = (column: number): number => ((column >> 1) & 3) * 8 + (column & 1) * 4 + (column >> 3)

export const awqGemvFast: Scheme = {
  id: 'awq gemv_fast',
  isIn: (settings) => usesLayout(settings, 'awq') && awqVersion(settings) === 'gemv_fast',
  names: { codes: '.qweight', weight: '.weight', beside: { offsets: '.scaled_zeros', scales: '.scales' } },
  isCodes: ({ dtype, shape }) => dtype === i16 && shape.length === 2,
  bits: awqBits,
  sharing: sharedGroup,
  matrix(group) {
    const codes = member(group, 'codes', 2)
    const scales = member(group, 'scales', 2)
    const offsets = member(group, 'offsets', 2)
    const [fours, columns] = codes.shape as [number, number]
    const rows = fours * interleaved
    if (columns % stride !== 0)
      refusePacked(codes, `its shape is ${shapeOf(codes)}; rows of a multiple of ${stride} columns were expected`)
    const width = scales.shape[0]!
    const { groupsOf } = paddedGroups(group, columns, width)
    const form = { columns: width, isTransposed: true }
    return {
      shape: [rows, columns],
      rows,
      columns,
      inputs: [
        rowInput(codes, rows, { columns, rowOf: (row) => Math.floor(row / interleaved) }),
        floatInput(scales, rows, form),
        floatInput(offsets, rows, form),
      ],
      tables: [],
      decode({ first, count: some, values, inputs: [packed, factors, shifts] }) {
        const groups = groupsOf()
        const factor = viewOf(Float32Array, factors!.bytes, some * width)
        const shift = viewOf(Float32Array, shifts!.bytes, some * width)
        for (let i = 0; i < some; i++) {
          const four = Math.floor((first + i) / interleaved) - packed!.first
          const start = four * columns * 2 + ((first + i) % interleaved) * (stride / 2)
          for (let c = 0; c < columns; c++) {
            const block = start + Math.floor(c / stride) * stride * 2
            const code = codeAt(packed!.bytes, block, ((c % stride) & 32) + placeOf(c % 32), 4)
            const at = i * width + groups[c]!
            values[i * columns + c] = code * factor[at]! + shift[at]!
          }
        }
      },
    }
  },
}

/** Rows of scales have room for more groups than there are. */
function paddedGroups(group: PackedWeight, columns: number, width: number) {
  const stated = awqGroup(group.settings)
  const size = stated === undefined ? 128 : stated <= 0 ? Math.max(1, columns) : stated
  const count = Math.ceil(columns / size)
  if (count > width)
    refusePacked(
      member(group, 'scales'),
      `${width} scales in a row are too few for ${columns} columns in groups of ${size}`,
    )
  return { count, groupsOf: columnGroups(columns, count, size) }
}
