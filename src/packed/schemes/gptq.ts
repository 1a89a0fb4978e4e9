// GPTQ: qweight [in·bits/32, out] has the codes of a column of `in`, qzeros [groups, out·bits/32] zero points, scales [groups, out]. Which
// group a column of the weight is in is listed in g_idx. The first version stores zero points less one.
import { viewOf } from '../../bytes/views.js'
import { i32 } from '../../dtypes/index.js'
import { columnGroups, groupSize } from '../groups.js'
import { codeAt, readCodes, wordBytes } from '../read-codes.js'
import { refusePacked, shapeOf } from '../refusal.js'
import { floatInput, type PackedMatrix, rowInput } from '../rows.js'
import { type Members, member, type PackedWeight, type Scheme } from '../scheme.js'
import { isSettings, methodOf, type Settings, usesLayout, wholeNumber } from '../settings.js'
import { affineRow, sharedGroup } from './affine.js'

const widths = [2, 3, 4, 8]

export const gptq: Scheme = {
  id: 'gptq',
  isIn: (settings) =>
    (usesLayout(settings, 'gptq') || methodOf(settings) === undefined) &&
    ['gptq', 'gptq_v2', undefined].includes(settings.checkpoint_format as string),
  names: {
    codes: '.qweight',
    weight: '.weight',
    beside: { zeros: '.qzeros', scales: '.scales' },
    optional: { groups: '.g_idx' },
  },
  isCodes: ({ dtype, shape }) => dtype === i32 && shape.length === 2,
  bits: widthOf,
  sharing: (group) => (statesAll(group.settings) ? sharedGroup(group) : undefined),
  matrix,
}

/** Whether the settings hold for every weight. Without, or where single modules have others, the shapes say it. */
const statesAll = (settings: Settings): boolean =>
  methodOf(settings) !== undefined && !isSettings(settings.dynamic) && !isSettings(settings.extra_config)

/** Zero points have as many columns as scales, packed. AWQ packs along the other dimension. */
function widthOf({ codes, beside: { zeros, scales }, settings }: Members): number | undefined {
  if (statesAll(settings)) return widths.find((bits) => bits === wholeNumber(settings, 'bits'))
  const [rows, words] = [codes.shape[1], zeros?.shape[1]]
  if (rows === undefined || words === undefined || scales?.shape[1] !== rows) return undefined
  return widths.find((bits) => wordBytes(rows, bits) === words * 4)
}

function matrix(group: PackedWeight): PackedMatrix {
  const { bits, settings } = group
  const codes = member(group, 'codes', 2)
  const scales = member(group, 'scales', 2)
  const zeros = member(group, 'zeros', 2)
  const list = group.beside.groups
  const [words, rows] = codes.shape as [number, number]
  const columns = (words * 32) / bits
  const [count, scaleRows] = scales.shape as [number, number]
  if (!Number.isInteger(columns) || scaleRows !== rows)
    refusePacked(scales, `its shape is ${shapeOf(scales)}, that of the codes ${shapeOf(codes)}`)
  const stated = statesAll(settings) ? wholeNumber(settings, 'group_size') : undefined
  const size = groupSize(scales, columns, count, stated)
  const zeroBytes = wordBytes(rows, bits)
  if (zeros.dtype !== i32 || zeros.shape[0] !== count || zeros.shape[1]! * 4 !== zeroBytes)
    refusePacked(zeros, `its shape is ${shapeOf(zeros)}; [${count}, ${zeroBytes / 4}] of i32 was expected`)
  const groupsOf = columnGroups(columns, count, size, list)
  const added = settings.checkpoint_format === 'gptq_v2' ? 0 : 1
  return {
    shape: [rows, columns],
    rows,
    columns,
    inputs: [
      rowInput(codes, rows, { columns: words, isTransposed: true }),
      floatInput(scales, rows, { columns: count, isTransposed: true }),
    ],
    tables: list ? [zeros, list] : [zeros],
    decode({ first, count: some, values, inputs: [packed, factors], tables: [stored, listed] }) {
      const [groups, row, points] = [groupsOf(listed), new Uint8Array(columns), new Float64Array(count)]
      const factor = viewOf(Float32Array, factors!.bytes, some * count)
      for (let i = 0; i < some; i++) {
        readCodes(packed!.bytes, i * words * 4, bits, row)
        for (let g = 0; g < count; g++) points[g] = codeAt(stored!, g * zeroBytes, first + i, bits) + added
        affineRow(row, groups, factor.subarray(i * count), points, values.subarray(i * columns, (i + 1) * columns))
      }
    },
  }
}
