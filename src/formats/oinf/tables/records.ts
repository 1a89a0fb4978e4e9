// Where a record may point: to a multiple of 8 in the data section, and not beyond the end of the file.
import { countElements } from '../../../bytes/index.js'
import { formatDims } from '../../../model/dims.js'
import type { OinfCode } from '../codes.js'
import type { Range, TensorRecord } from '../records.js'
import { alignment } from '../structs.js'
import { dataSize } from '../types.js'

export interface Bounds {
  readonly offsetData: number
  readonly end: number
  complain(code: OinfCode, offset: number, field: string, message: string): false
}

/** As the file has it. `at` is the place of the size field; that of the offset follows it. */
export interface StatedRange {
  readonly length: bigint
  readonly offset: bigint
  readonly at: number
}

const fieldOf = { metadata: 'value', tensor: 'data', quant: 'quant' } as const

/** The range, or undefined after what is wrong was reported. */
export function checkRange(
  kind: 'metadata' | 'tensor' | 'quant',
  { length, offset, at }: StatedRange,
  { offsetData, end, complain }: Bounds,
): Range | undefined {
  const refuse = (code: OinfCode, message: string): undefined => {
    complain(code, at + 8, `${fieldOf[kind]}_offset`, message)
  }
  if (offset % BigInt(alignment) !== 0n) return refuse(`${kind}-alignment`, `${offset} is no multiple of ${alignment}`)
  if (offset < BigInt(offsetData))
    return refuse(`${kind}-before-data`, `${offset} is before the data section at ${offsetData}`)
  if (offset + length > BigInt(end))
    return refuse(`${kind}-past-end`, `${length} bytes at ${offset} run past the end at ${end}`)
  return { offset: Number(offset), length: Number(length) }
}

interface Described extends Pick<TensorRecord, 'dtype' | 'shape' | 'exactShape'> {
  readonly present: boolean
}

/** The range of a tensor's data, which it may do without. */
export function checkData(
  described: Described,
  stated: StatedRange,
  bounds: Bounds,
): { readonly ok: boolean; readonly range?: Range | undefined } {
  const { dtype, shape, present } = described
  const { length, offset, at } = stated
  const { complain } = bounds
  if (!present) {
    if (length === 0n && offset === 0n) return { ok: true }
    const message = `${length} bytes at ${offset}, but the tensor has no data`
    return { ok: complain('tensor-no-data', at, 'data_nbytes', message) }
  }
  const wanted = dataSize(dtype, shape)
  const type = `shape ${formatDims(described)} of ${dtype.id}`
  if (wanted === undefined) {
    const what = countElements(shape) === undefined ? 'elements' : 'bytes'
    return { ok: complain('tensor-overflow', at, 'dims', `${type} has more than 2^53-1 ${what}`) }
  }
  if (length !== BigInt(wanted))
    return { ok: complain('tensor-size', at, 'data_nbytes', `${length} bytes, but ${type} takes ${wanted}`) }
  const range = checkRange('tensor', stated, bounds)
  return { ok: range !== undefined, range }
}
