// Four bits as the Marlin kernels want them, symmetric: tiles of 16 columns and 64 rows of the weight, 128 words each, with the codes in the
// order in which the threads of a GPU take them. B is [in/16, out·2], s [groups, out] with its columns permuted as well.
import { viewOf } from '../../bytes/views.js'
import { f32, i32 } from '../../dtypes/index.js'
import type { Tensor } from '../../model/index.js'
import { castTensor } from '../../transforms/cast.js'
import { columnGroups, groupSize } from '../groups.js'
import { refusePacked, shapeOf } from '../refusal.js'
import type { PackedMatrix, RowInput } from '../rows.js'
import { member, type PackedWeight, type Scheme } from '../scheme.js'
import { methodOf, type Settings, usesLayout, wholeNumber } from '../settings.js'
import { sharedGroup } from './affine.js'
import { awqBits, awqVersion } from './awq.js'

const [tileColumns, tileRows, tileWords] = [16, 64, 128]
const zero = 8

const isMarlin = (settings: Settings): boolean =>
  methodOf(settings) === 'marlin' ||
  (methodOf(settings) === 'gptq' && (settings.checkpoint_format === 'marlin' || settings.is_marlin_format === true))

const common = {
  isCodes: ({ dtype, shape }: Tensor) => dtype === i32 && shape.length === 2,
  sharing: sharedGroup,
  matrix,
}

export const marlin: readonly Scheme[] = [
  {
    ...common,
    id: 'gptq marlin',
    isIn: isMarlin,
    names: { codes: '.B', weight: '.weight', beside: { scales: '.s' }, unused: ['.workspace'] },
    bits: ({ settings }) => ((wholeNumber(settings, 'bits') ?? 4) === 4 ? 4 : undefined),
  },
  {
    ...common,
    id: 'awq marlin',
    isIn: (settings) => usesLayout(settings, 'awq') && awqVersion(settings) === 'marlin',
    names: { codes: '.qweight', weight: '.weight', beside: { scales: '.scales' }, unused: ['.workspace'] },
    bits: awqBits,
  },
]

/** Which four bits of a tile have the code at a column and a row: eight for each word. */
const places: Uint16Array = /* @__PURE__ */ tilePlaces()

/** A thread has four codes of each of two blocks of eight rows; a warp of 32 threads takes four tiles of 16 × 16. */
function tilePlaces(): Uint16Array {
  const places = new Uint16Array(tileColumns * tileRows)
  // In a word, codes 0, 2, 4, 6 come first, then 1, 3, 5, 7.
  const order = [0, 2, 4, 6, 1, 3, 5, 7]
  for (let thread = 0; thread < 32; thread++)
    for (let tile = 0; tile < 4; tile++)
      for (let place = 0; place < 8; place++) {
        const code = order[place]!
        const block = code >> 2
        const column = 2 * (thread % 4) + (code & 1) + (code & 2 ? 8 : 0)
        const row = 16 * tile + Math.floor(thread / 4) + 8 * block
        places[row * tileColumns + column] = (thread * 4 + tile) * 8 + place
      }
  return places
}

/** Where the scale of a row lies among those of its 64: there are two orders, one for a single scale per row. */
const scalePlace = (row: number, isSingle: boolean): number =>
  isSingle ? (row & 32) + 8 * ((row & 7) >> 1) + 2 * ((row & 31) >> 3) + (row & 1) : (row & 7) * 8 + (row >> 3)

function matrix(group: PackedWeight): PackedMatrix {
  const codes = member(group, 'codes', 2)
  const scales = member(group, 'scales', 2)
  const [tiles, words] = codes.shape as [number, number]
  const [columns, rows] = [tiles * tileColumns, words / 2]
  const [count, scaleRows] = scales.shape as [number, number]
  if (!Number.isInteger(rows / tileRows))
    refusePacked(codes, `its shape is ${shapeOf(codes)}; rows of a multiple of ${tileWords} words were expected`)
  if (scaleRows !== rows) refusePacked(scales, `its shape is ${shapeOf(scales)}, that of the codes ${shapeOf(codes)}`)
  const size = groupSize(scales, columns, count, wholeNumber(group.settings, 'group_size'))
  const groupsOf = columnGroups(columns, count, size)
  return {
    shape: [rows, columns],
    rows,
    columns,
    inputs: [tileInput(codes, tileWords, tiles, rows), tileInput(castTensor(scales, f32), tileRows, count, rows)],
    tables: [],
    decode({ first, count: some, values, inputs: [packed, factors] }) {
      const groups = groupsOf()
      const word = viewOf(Uint32Array, packed!.bytes, packed!.bytes.byteLength / 4)
      const factor = viewOf(Float32Array, factors!.bytes, factors!.bytes.byteLength / 4)
      for (let i = 0; i < some; i++) {
        const tile = Math.floor((first + i) / tileRows) - packed!.first
        const row = (first + i) % tileRows
        const scaleAt = tile * count * tileRows + scalePlace(row, count === 1)
        for (let c = 0; c < columns; c++) {
          const place = places[row * tileColumns + (c % tileColumns)]!
          const at = (tile * tiles + Math.floor(c / tileColumns)) * tileWords + (place >> 3)
          const code = (word[at]! >>> (4 * (place & 7))) & 15
          values[i * columns + c] = factor[scaleAt + groups[c]! * tileRows]! * (code - zero)
        }
      }
    },
  }
}

/** What belongs to 64 rows of the weight, regarded as a row: `width` numbers from each row of the tensor. */
function tileInput(tensor: Tensor, width: number, height: number, rows: number): RowInput {
  const count = rows / tileRows
  if (tensor.data!.byteLength !== count * height * width * 4)
    refusePacked(tensor, `its shape is ${shapeOf(tensor)}; ${height} × ${count * width} elements were expected`)
  return {
    tensor,
    data: tensor.data!,
    size: width * 4,
    columns: height,
    strides: [1, count],
    rowOf: (row) => Math.floor(row / tileRows),
  }
}
