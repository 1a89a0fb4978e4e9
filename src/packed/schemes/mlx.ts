// MLX: words of u32 with the codes of a row, and for each group of columns a scale and an offset: code · scale + bias.
import { viewOf } from '../../bytes/views.js'
import { u32 } from '../../dtypes/index.js'
import { groupSize } from '../groups.js'
import { readCodes } from '../read-codes.js'
import { refusePacked, shapeOf } from '../refusal.js'
import { floatInput, type PackedMatrix, rowInput } from '../rows.js'
import { type Members, member, type PackedWeight, type Scheme } from '../scheme.js'
import { isSettings, methodOf, type Settings, wholeNumber } from '../settings.js'
import { sharedGroup } from './affine.js'

const widths = [2, 3, 4, 5, 6, 8]

export const mlx: Scheme = {
  id: 'mlx',
  isIn: (settings) => methodOf(settings) === undefined && settings.bits !== undefined,
  names: { codes: '.weight', weight: '.weight', beside: { scales: '.scales', biases: '.biases' } },
  isCodes: ({ dtype, shape }) => dtype === u32 && shape.length >= 2,
  bits(group) {
    const settings = mlxSettings(group)
    const isAffine = String(settings.mode ?? 'affine') === 'affine'
    return isAffine ? widths.find((bits) => bits === wholeNumber(settings, 'bits')) : undefined
  },
  sharing: (group) => sharedGroup({ settings: mlxSettings(group) }),
  matrix,
}

/** Single modules can have settings of their own, under their names. */
export function mlxSettings({ settings, codes }: Pick<Members, 'settings' | 'codes'>): Settings {
  const own = settings[codes.name.slice(0, -'.weight'.length)]
  return isSettings(own) ? { ...settings, ...own } : settings
}

function matrix(group: PackedWeight): PackedMatrix {
  const { bits } = group
  const codes = member(group, 'codes')
  const scales = member(group, 'scales', codes.shape.length)
  const biases = member(group, 'biases', codes.shape.length)
  const words = codes.shape.at(-1)!
  const columns = (words * 32) / bits
  const outer = codes.shape.slice(0, -1)
  const rows = outer.reduce((product, dim) => product * dim, 1)
  if (!Number.isInteger(columns))
    refusePacked(codes, `its shape is ${shapeOf(codes)}; rows of ${bits}-bit codes were expected`)
  const count = scales.shape.at(-1)!
  const size = groupSize(scales, columns, count, wholeNumber(mlxSettings(group), 'group_size'))
  return {
    shape: [...outer, columns],
    rows,
    columns,
    inputs: [
      rowInput(codes, rows, { columns: words }),
      floatInput(scales, rows, { columns: count }),
      floatInput(biases, rows, { columns: count }),
    ],
    tables: [],
    decode({ count: some, values, inputs: [packed, factors, offsets] }) {
      const row = new Uint8Array(columns)
      const factor = viewOf(Float32Array, factors!.bytes, some * count)
      const offset = viewOf(Float32Array, offsets!.bytes, some * count)
      for (let i = 0; i < some; i++) {
        readCodes(packed!.bytes, i * words * 4, bits, row)
        const target = values.subarray(i * columns, (i + 1) * columns)
        for (let g = 0; g < count; g++) {
          const [scale, bias] = [factor[i * count + g]!, offset[i * count + g]!]
          const end = Math.min(columns, (g + 1) * size)
          for (let c = g * size; c < end; c++) target[c] = row[c]! * scale + bias
        }
      }
    },
  }
}
