// bitsandbytes in four bits: codes of all rows on end, two in a byte with the first in the high half. A table of 16 values says what they
// stand for; a run of 64 or so shares a scale, its largest magnitude. Scales may be coded themselves, by another table, in runs of 256.
// The shape is in a JSON text that is stored as a tensor.
import { decodeUtf8 } from '../../bytes/index.js'
import { viewOf } from '../../bytes/views.js'
import { f32, u8 } from '../../dtypes/index.js'
import { readPayload, type Tensor } from '../../model/index.js'
import { refusePacked, shapeOf } from '../refusal.js'
import { floatInput, type PackedMatrix, rowInput } from '../rows.js'
import { member, type PackedWeight, type Scheme } from '../scheme.js'
import { isSettings, methodOf, wholeNumber } from '../settings.js'

const maxState = 1 << 16

export const bitsandbytes4: readonly Scheme[] = ['nf4', 'fp4'].map((kind) => ({
  id: `bitsandbytes ${kind}`,
  isIn: (settings) => ['bitsandbytes', undefined].includes(methodOf(settings)),
  names: {
    codes: '',
    weight: '',
    beside: { scales: '.absmax', values: '.quant_map', state: `.quant_state.bitsandbytes__${kind}` },
    optional: { nestedScales: '.nested_absmax', nestedValues: '.nested_quant_map' },
  },
  // The bytes may be stored as numbers of another type, so that they are sharded like those.
  isCodes: ({ dtype }) => dtype.group.elements === 1,
  bits: () => 4,
  sharing: ({ beside }) => (beside.nestedScales ? 'with coded scales' : undefined),
  matrix,
}))

interface State {
  readonly shape: readonly number[]
  readonly run: number
  readonly nestedRun: number
  readonly nestedOffset: number
}

async function matrix(group: PackedWeight, signal?: AbortSignal): Promise<PackedMatrix> {
  const { shape, run, nestedRun, nestedOffset } = await readState(member(group, 'state', 1), signal)
  const codes = member(group, 'codes')
  const scales = member(group, 'scales', 1)
  const values = tableOf(member(group, 'values', 1), 16)
  const { nestedScales } = group.beside
  const count = shape.reduce((product, dim) => product * dim, 1)
  if (!Number.isSafeInteger(count) || count !== 2 * codes.data!.byteLength)
    refusePacked(
      codes,
      `its shape is ${shapeOf(codes)}; codes for [${shape.join(', ')}] in runs of ${run} were expected`,
    )
  // The last run may be shorter than the others.
  const columns = commonDivisor(run, count)
  const rows = count / columns
  const runOf = (row: number): number => Math.floor((row * columns) / run)
  const flat: Tensor = { ...codes, dtype: u8, shape: [rows, columns / 2] }
  const form = { shape, rows, columns }
  const packed = rowInput(flat, rows, { columns: columns / 2 })
  if (!nestedScales) {
    return {
      ...form,
      inputs: [packed, floatInput(scales, rows, { columns: 1, rowOf: runOf })],
      tables: [values],
      decode({ first, count: some, values: target, inputs: [bytes, scale], tables: [map] }) {
        const stored = viewOf(Float32Array, scale!.bytes, scale!.bytes.byteLength / 4)
        const factors = Float32Array.from({ length: some }, (_, i) => stored[runOf(first + i) - scale!.first]!)
        decodeRuns(bytes!.bytes, viewOf(Float32Array, map!, 16), factors, target)
      },
    }
  }
  if (scales.dtype !== u8) refusePacked(scales, `codes of u8 were expected for scales, not ${scales.dtype.id}`)
  const rowOf = (row: number): number => Math.floor(runOf(row) / nestedRun)
  return {
    ...form,
    inputs: [
      packed,
      rowInput(scales, rows, { columns: 1, rowOf: runOf }),
      floatInput(nestedScales, rows, { columns: 1, rowOf }),
    ],
    tables: [values, tableOf(member(group, 'nestedValues', 1), 256)],
    decode({ first, count: some, values: target, inputs: [bytes, coded, outer], tables: [map, nestedMap] }) {
      const factor = viewOf(Float32Array, outer!.bytes, outer!.bytes.byteLength / 4)
      const nested = viewOf(Float32Array, nestedMap!, 256)
      const factors = Float32Array.from({ length: some }, (_, i) => {
        const product = Math.fround(
          nested[coded!.bytes[runOf(first + i) - coded!.first]!]! * factor[rowOf(first + i) - outer!.first]!,
        )
        return product + nestedOffset
      })
      decodeRuns(bytes!.bytes, viewOf(Float32Array, map!, 16), factors, target)
    },
  }
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b))

function decodeRuns(bytes: Uint8Array, map: Float32Array, factors: Float32Array, target: Float32Array): void {
  const half = target.length / factors.length / 2
  for (let i = 0; i < bytes.length; i++) {
    const factor = factors[Math.floor(i / half)]!
    target[2 * i] = map[bytes[i]! >>> 4]! * factor
    target[2 * i + 1] = map[bytes[i]! & 15]! * factor
  }
}

function tableOf(tensor: Tensor, length: number): Tensor {
  if (tensor.dtype !== f32 || tensor.shape[0] !== length)
    refusePacked(tensor, `its shape is ${shapeOf(tensor)} of ${tensor.dtype.id}; [${length}] of f32 was expected`)
  return tensor
}

async function readState(tensor: Tensor, signal: AbortSignal | undefined): Promise<State> {
  if (tensor.data!.byteLength > maxState) refusePacked(tensor, `${tensor.data!.byteLength} bytes are too many for it`)
  const text = decodeUtf8(await readPayload(tensor.data!, signal))
  const state = parsed(text ?? '')
  const { shape, nested_offset: offset = 0 } = state
  const run = wholeNumber(state, 'blocksize') ?? 0
  const nestedRun = wholeNumber(state, 'nested_blocksize') ?? 256
  const isShape = Array.isArray(shape) && shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0)
  if (!isShape || run < 2 || run % 2 !== 0 || nestedRun < 1 || typeof offset !== 'number')
    return refusePacked(tensor, 'JSON with a shape and a blocksize was expected')
  return { shape, run, nestedRun, nestedOffset: offset }
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isSettings(value) ? value : {}
  } catch {
    return {}
  }
}
