// The floats of MLX: words of u32 with the codes of a row, and a scale for each group of columns, as plain bytes. The mode says which floats.
import { type DType, f8_e4m3, f8_e8m0, u8, u32 } from '../../dtypes/index.js'
import { refusePacked, shapeOf } from '../refusal.js'
import type { PackedMatrix } from '../rows.js'
import { type Members, member, type PackedWeight, type Scheme } from '../scheme.js'
import { methodOf } from '../settings.js'
import { rowsOfHalves } from './fp4.js'
import { mlxSettings } from './mlx.js'
import { scaledMatrix } from './scaled.js'

interface Mode {
  readonly bits: 4 | 8
  readonly size: number
  readonly scales: DType
}

const modes: Readonly<Record<string, Mode>> = {
  mxfp4: { bits: 4, size: 32, scales: f8_e8m0 },
  nvfp4: { bits: 4, size: 16, scales: f8_e4m3 },
  mxfp8: { bits: 8, size: 32, scales: f8_e8m0 },
}

const modeOf = (group: Pick<Members, 'settings' | 'codes'>): Mode | undefined => {
  const { mode } = mlxSettings(group)
  return typeof mode === 'string' && Object.hasOwn(modes, mode) ? modes[mode] : undefined
}

export const mlxFloats: Scheme = {
  id: 'mlx float',
  isIn: (settings) => methodOf(settings) === undefined && settings.bits !== undefined,
  names: { codes: '.weight', weight: '.weight', beside: { scales: '.scales' } },
  isCodes: ({ dtype, shape }) => dtype === u32 && shape.length >= 2,
  bits: (group) => modeOf(group)?.bits,
  sharing: (group) => `group ${modeOf(group)?.size}`,
  matrix,
}

function matrix(group: PackedWeight): PackedMatrix {
  const words = member(group, 'codes')
  const bytes = member(group, 'scales', words.shape.length)
  const mode = modeOf(group)!
  if (bytes.dtype !== u8)
    refusePacked(bytes, `its shape is ${shapeOf(bytes)} of ${bytes.dtype.id}; codes of u8 were expected`)
  const scales = { ...bytes, dtype: mode.scales }
  const shape = [...words.shape.slice(0, -1), words.shape.at(-1)! * 4]
  const codes = { ...words, shape, dtype: mode.bits === 8 ? f8_e4m3 : u8 }
  if (mode.bits === 4)
    return rowsOfHalves({ ...group, codes, beside: { scales } }, { size: mode.size, type: mode.scales })
  const settings = { weight_block_size: [1, mode.size] }
  return scaledMatrix(1)({ ...group, codes, beside: { scales }, settings })
}
