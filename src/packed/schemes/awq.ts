// AWQ as `gemm` kernels want it: qweight [in, out/8] and qzeros [groups, out/8] have the codes of eight rows of the weight in a word, in an
// order that unpacks fast on GPUs; scales are [groups, out].
import { viewOf } from '../../bytes/views.js'
import { i32 } from '../../dtypes/index.js'
import { columnGroups, groupSize } from '../groups.js'
import { refusePacked, shapeOf } from '../refusal.js'
import { floatInput, type PackedMatrix, rowInput } from '../rows.js'
import { type Members, member, type PackedWeight, type Scheme } from '../scheme.js'
import { methodOf, type Settings, usesLayout, wholeNumber } from '../settings.js'
import { affineRow, sharedGroup } from './affine.js'

const perWord = 8
/** Which four bits of a word row 0, 1, … of eight has; the words themselves list rows 0 2 4 6 1 3 5 7. */
const nibbleOf = [0, 4, 1, 5, 2, 6, 3, 7] as const

export const awq: Scheme = {
  id: 'awq',
  isIn: (settings) =>
    methodOf(settings) === undefined ||
    (usesLayout(settings, 'awq') && ['gemm', 'exllama', 'ipex'].includes(awqVersion(settings))),
  names: { codes: '.qweight', weight: '.weight', beside: { zeros: '.qzeros', scales: '.scales' } },
  isCodes: ({ dtype, shape }) => dtype === i32 && shape.length === 2,
  bits: (group) => (fitsWords(group) ? awqBits(group) : undefined),
  sharing: sharedGroup,
  matrix,
}

/** Which kernels the layout is for. */
export const awqVersion = ({ version }: Settings): string =>
  typeof version === 'string' ? version.toLowerCase() : 'gemm'

/** There are layouts for four bits only. Older configurations say `w_bit`. */
export const awqBits = ({ settings }: Pick<Members, 'settings'>): 4 | undefined =>
  (wholeNumber(settings, 'bits') ?? wholeNumber(settings, 'w_bit') ?? 4) === 4 ? 4 : undefined

export const awqGroup = (settings: Settings): number | undefined =>
  wholeNumber(settings, 'group_size') ?? wholeNumber(settings, 'q_group_size')

/** Where nothing says that the weights are of AWQ, shapes tell them from those of GPTQ. */
const fitsWords = ({ codes, beside: { scales }, settings }: Members): boolean =>
  methodOf(settings) !== undefined || codes.shape[1]! * perWord === scales?.shape[1]

const wordOf = (row: number): number => Math.floor(row / perWord)

function matrix(group: PackedWeight): PackedMatrix {
  const codes = member(group, 'codes', 2)
  const scales = member(group, 'scales', 2)
  const zeros = member(group, 'zeros', 2)
  const [columns, words] = codes.shape as [number, number]
  const rows = words * perWord
  const [count, scaleRows] = scales.shape as [number, number]
  if (scaleRows !== rows) refusePacked(scales, `its shape is ${shapeOf(scales)}, that of the codes ${shapeOf(codes)}`)
  const size = groupSize(scales, columns, count, awqGroup(group.settings))
  if (zeros.dtype !== i32 || zeros.shape[0] !== count || zeros.shape[1] !== words)
    refusePacked(zeros, `its shape is ${shapeOf(zeros)}; [${count}, ${words}] of i32 was expected`)
  const groupsOf = columnGroups(columns, count, size)
  return {
    shape: [rows, columns],
    rows,
    columns,
    inputs: [
      rowInput(codes, rows, { columns, isTransposed: true, rowOf: wordOf }),
      rowInput(zeros, rows, { columns: count, isTransposed: true, rowOf: wordOf }),
      floatInput(scales, rows, { columns: count, isTransposed: true }),
    ],
    tables: [],
    decode({ first, count: some, values, inputs: [packed, packedZeros, factors] }) {
      const [groups, row, points] = [groupsOf(), new Uint8Array(columns), new Float64Array(count)]
      const factor = viewOf(Float32Array, factors!.bytes, some * count)
      const word = viewOf(Uint32Array, packed!.bytes, packed!.bytes.byteLength / 4)
      const zero = viewOf(Uint32Array, packedZeros!.bytes, packedZeros!.bytes.byteLength / 4)
      for (let i = 0; i < some; i++) {
        const at = wordOf(first + i) - packed!.first
        const shift = 4 * nibbleOf[(first + i) % perWord]!
        for (let c = 0; c < columns; c++) row[c] = (word[at * columns + c]! >>> shift) & 15
        for (let g = 0; g < count; g++) points[g] = (zero[at * count + g]! >>> shift) & 15
        affineRow(row, groups, factor.subarray(i * count), points, values.subarray(i * columns, (i + 1) * columns))
      }
    },
  }
}
