// The values of one tensor, in an array that fits them.
import { viewOf } from '../bytes/views.js'
import { type ExtractOptions, extractTensor } from '../convert/extract/extract.js'
import { c64, type DType, type DTypeId } from '../dtypes/index.js'
import { failWith, usageCodes } from '../errors/index.js'
import { verifiedTensor } from '../formats/index.js'
import { type Model, readPayload, type Tensor } from '../model/index.js'
import { findWeight, unpackWeight } from '../packed/index.js'
import { castTensor } from '../transforms/cast.js'
import { rowMajor } from '../transforms/reorder.js'
import { OpenModel } from './open-model.js'

/** The arrays that element types are read into. */
const arrays = {
  f64: Float64Array,
  f32: Float32Array,
  i64: BigInt64Array,
  i32: Int32Array,
  i16: Int16Array,
  i8: Int8Array,
  u64: BigUint64Array,
  u32: Uint32Array,
  u16: Uint16Array,
  u8: Uint8Array,
  bool: Uint8Array,
  bitset: Uint8Array,
} as const

type ArrayType = keyof typeof arrays

/** What values can be read as; `raw` is the stored bytes as they are. */
export type ReadAs = Exclude<ArrayType, 'bitset'> | 'raw'

/** The array that values of a type are read into. */
export type ArrayFor<As extends ReadAs> = As extends ArrayType
  ? InstanceType<(typeof arrays)[As]> & { readonly buffer: ArrayBuffer }
  : Uint8Array<ArrayBuffer>

/** Any of the arrays that `readTensor` fills. */
export type TensorArray = ArrayFor<ReadAs>

/**
 * A range per dimension, outermost first: `[start, end]` or `[start, end, step]`, `[]` for all of it, a number for one index, which takes
 * the dimension away. Negative numbers count from the end; dimensions that are not named are read whole.
 */
export type SliceRanges = readonly (
  | number
  | readonly []
  | readonly [start: number]
  | readonly [start: number, end: number]
  | readonly [start: number, end: number, step: number]
)[]

/** What to read of a tensor, and as what. */
export interface ReadTensorOptions<As extends ReadAs = ReadAs> {
  /**
   * The type of the values. Default: the stored one, where JavaScript has an array for it. Other floats and all quantized types are decoded
   * to f32, integers of less than a byte to i8 or u8; complex numbers are pairs of f32 or f64. `raw`: the stored bytes.
   */
  readonly as?: As | undefined
  /** In Python's notation, `0:10,:`, or as ranges, `[[0, 10], []]`. */
  readonly slice?: string | SliceRanges | undefined
  readonly signal?: AbortSignal | undefined
}

/** The values of a tensor. */
export interface TensorData<A = TensorArray> {
  readonly name: string
  /** The element type that the file stores. */
  readonly dtype: DTypeId
  /** Outermost dimension first. */
  readonly shape: readonly number[]
  /** Row by row, whatever the order in the file; bytes that were requested as `raw` are as stored. */
  readonly data: A
}

/**
 * Reads the values of one tensor, or of a slice of it, and no other bytes. Where the file has hashes for what is read, the bytes are
 * compared with them; `verify` checks a whole file.
 *
 * @example
 * const { data, shape } = await readTensor(model, 'layers.0.weight', { as: 'f32' }) // data: Float32Array
 * const rows = await readTensor(model, 'embedding', { as: 'f32', slice: [[0, 10]] })
 */
export async function readTensor<As extends ReadAs>(
  model: Model,
  name: string,
  options: ReadTensorOptions<As> & { readonly as: As },
): Promise<TensorData<ArrayFor<As>>>
export async function readTensor(model: Model, name: string, options?: ReadTensorOptions): Promise<TensorData>
export async function readTensor(model: Model, name: string, options: ReadTensorOptions = {}): Promise<TensorData> {
  const stored = (await unpackedTensor(model, name, options)) ?? (await storedTensor(model, name))
  const as = options.as ?? defaultType(stored)
  const wanted: ExtractOptions = {
    slice: options.slice === undefined ? undefined : notationOf(options.slice),
    ...(as !== 'raw' && as !== 'pairs' && { as }),
  }
  const one: Model = { ...model, tensors: [stored] }
  const extracted = extractTensor(one, name, wanted)
  const tensor = as === 'pairs' ? rowMajor(wideEnough(extracted)) : extracted
  const bytes = await allBytes(tensor, model, options.signal)
  const type = as === 'pairs' ? partOf(stored) : as
  return {
    name,
    dtype: stored.dtype.id as DTypeId,
    shape: tensor.shape,
    data: type === 'raw' ? bytes : arrayOf(type, bytes),
  }
}

const storedTensor = (model: Model, name: string): Promise<Tensor> =>
  verifiedTensor(model, model instanceof OpenModel ? model.tensor(name) : extractTensor(model, name))

/** The values of a weight that is packed in several tensors, where floats are wanted or nothing is stored under its name. */
async function unpackedTensor(model: Model, name: string, options: ReadTensorOptions): Promise<Tensor | undefined> {
  const { as, signal } = options
  const weight = await findWeight(model, name, as === 'f32' || as === 'f64', signal)
  if (!weight) return undefined
  const beside: Record<string, Tensor | undefined> = {}
  for (const [part, each] of Object.entries(weight.beside)) beside[part] = each && (await verifiedTensor(model, each))
  return unpackWeight({ ...weight, codes: await verifiedTensor(model, weight.codes), beside }, signal)
}

const typeOf = ({ encoding, dtype }: Tensor): DType => encoding ?? dtype

/** There is no array for pairs of f16 in every engine. */
const wideEnough = (tensor: Tensor): Tensor => (typeOf(tensor).part?.id === 'f16' ? castTensor(tensor, c64) : tensor)

const partOf = (tensor: Tensor): 'f32' | 'f64' => (typeOf(tensor).part?.id === 'f64' ? 'f64' : 'f32')

/** What a tensor is read as when nothing was requested. */
function defaultType(tensor: Tensor): ReadAs | 'pairs' {
  const { id, kind } = typeOf(tensor)
  if (id === 'bitset') return 'raw'
  if (Object.hasOwn(arrays, id)) return id as ReadAs
  if (kind === 'complex') return 'pairs'
  if (kind === 'opaque') return 'raw'
  return kind === 'int' ? 'i8' : kind === 'uint' ? 'u8' : 'f32'
}

function notationOf(slice: string | SliceRanges): string {
  if (typeof slice === 'string') return slice
  const parts = slice.map((range) => {
    if (typeof range === 'number') return `${range}`
    const [start, end, step] = range as readonly (number | undefined)[]
    return `${start ?? ''}:${end ?? ''}${step === undefined ? '' : `:${step}`}`
  })
  return parts.join(',')
}

async function allBytes(tensor: Tensor, model: Model, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  const { name, data } = tensor
  try {
    return await readPayload(data!, signal)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const message = `${data!.byteLength} bytes are more than one array holds here; read a slice`
    return failWith(
      usageCodes['too-large'],
      { file: model.files[0]?.name ?? '', path: name, message },
      { cause: error },
    )
  }
}

/** The bytes start at the beginning of their buffer, so that this is a view. */
function arrayOf(type: Exclude<ReadAs, 'raw'>, bytes: Uint8Array<ArrayBuffer>): TensorArray {
  const array = arrays[type]
  return viewOf<TensorArray>(array as never, bytes, bytes.byteLength / array.BYTES_PER_ELEMENT)
}
