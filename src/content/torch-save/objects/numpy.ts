// NumPy's arrays and single numbers inside a checkpoint. In a pickle an array is a call of `_reconstruct` with a state of (version, shape,
// dtype, Fortran order, bytes), or, in newer protocols, of `_frombuffer` with (bytes, dtype, shape, order); a number is a call of `scalar`
// with (dtype, bytes). A dtype is itself a call, whose state holds the byte order. Arrays of plain numbers become tensors, numbers
// metadata; everything else (objects, texts, dates, records) stays inert.
import { countElements } from '../../../bytes/index.js'
import { type DType, dtypeById } from '../../../dtypes/index.js'
import { bytesPayload, type MetaValue, type Payload } from '../../../model/index.js'
import { swappedPayload } from '../../../payloads/swapped-payload.js'
import { PickleList, PickleObject, type PickleValue } from '../../../wire/pickle/pickle.js'
import { sizes } from './rebuild.js'

export interface NumpyArray {
  readonly dtype: DType
  readonly shape: readonly number[]
  readonly order: 'row' | 'column'
  readonly data: Payload
}

type BytesOf = (value: PickleValue) => Uint8Array | undefined

const reconstructs = /^numpy\.(_core|core)\.multiarray\._reconstruct$/
const frombuffers = /^numpy\.(_core|core)\.numeric\._frombuffer$/
const scalars = /^numpy\.(_core|core)\.multiarray\.scalar$/

/** Kind and size in bytes, as NumPy writes them. */
const dtypeIds: ReadonlyMap<string, string> = new Map([
  ...['1', '2', '4', '8'].flatMap((size): [string, string][] => [
    [`i${size}`, `i${8 * Number(size)}`],
    [`u${size}`, `u${8 * Number(size)}`],
  ]),
  ['b1', 'bool'],
  ['f2', 'f16'],
  ['f4', 'f32'],
  ['f8', 'f64'],
  ['c8', 'c64'],
  ['c16', 'c128'],
])

/** The array that a call stands for; a text when it is one that does not add up; undefined when it is none of plain numbers. */
export function numpyArray(value: PickleObject, bytesOf: BytesOf): NumpyArray | string | undefined {
  const name = value.className ?? ''
  const args = value.args instanceof PickleList ? value.args.items : []
  if (reconstructs.test(name) && value.state instanceof PickleList) {
    const [, shape, dtype, isFortran, bytes] = value.state.items
    return arrayOf(dtype, shape, isFortran === true, bytes, bytesOf)
  }
  if (!frombuffers.test(name)) return undefined
  const [bytes, dtype, shape, order] = args
  return arrayOf(dtype, shape, order === 'F', bytes, bytesOf)
}

function arrayOf(
  type: PickleValue | undefined,
  size: PickleValue | undefined,
  isFortran: boolean,
  content: PickleValue | undefined,
  bytesOf: BytesOf,
): NumpyArray | string | undefined {
  const element = elementOf(type)
  const bytes = content === undefined ? undefined : bytesOf(content)
  if (!element || !bytes) return undefined
  const shape = sizes(size)
  if (!shape) return 'the shape of an array is not a list of dimensions'
  const { dtype, isBigEndian } = element
  const wanted = (countElements(shape) ?? Number.POSITIVE_INFINITY) * dtype.group.bytes
  if (wanted !== bytes.byteLength)
    return `an array [${shape.join(', ')}] of ${dtype.id} takes ${wanted} bytes, ${bytes.byteLength} are there`
  const data = ordered(bytes, dtype, isBigEndian)
  return { dtype, shape, order: isFortran && shape.length > 1 ? 'column' : 'row', data }
}

function ordered(bytes: Uint8Array, { kind, group }: DType, isBigEndian: boolean): Payload {
  const payload = bytesPayload(bytes)
  if (!isBigEndian || group.bytes === 1) return payload
  return swappedPayload(payload, kind === 'complex' ? group.bytes / 2 : group.bytes)
}

/** A single number as metadata, with its own type; undefined when it is none. */
export function numpyScalar(value: PickleObject, bytesOf: BytesOf): MetaValue | undefined {
  if (!scalars.test(value.className ?? '')) return undefined
  const [type, content] = value.args instanceof PickleList ? value.args.items : []
  const element = elementOf(type)
  const bytes = content === undefined ? undefined : bytesOf(content)
  if (!element || bytes?.byteLength !== element.dtype.group.bytes) return undefined
  const { dtype, isBigEndian } = element
  const found = dtype.codec?.element(isBigEndian ? bytes.toReversed() : bytes, 0)
  if (found === undefined || typeof found === 'object') return undefined
  return { type: dtype.id, value: found } as MetaValue
}

/** dtype('f8', False, True) with the state (version, byte order, …). Without a sign the order is the machine's, which is little-endian. */
function elementOf(type: PickleValue | undefined): { dtype: DType; isBigEndian: boolean } | undefined {
  if (!(type instanceof PickleObject) || type.className !== 'numpy.dtype') return undefined
  const [name] = type.args instanceof PickleList ? type.args.items : []
  const [, order, ...described] = type.state instanceof PickleList ? type.state.items : []
  // A record or a sub-array has a description besides; then the letters are not the whole type.
  if (typeof name !== 'string' || described.slice(0, 3).some((item) => item !== null)) return undefined
  const [, sign, code] = /^([<>=|]?)([biufc]\d{1,2})$/.exec(name) ?? []
  const dtype = code === undefined ? undefined : dtypeById(dtypeIds.get(code) ?? '')
  return dtype && { dtype, isBigEndian: order === '>' || sign === '>' }
}
