// A model from arrays that a program has, written like any other.
import { bytesOf, littleEndianHost, swapBytes } from '../bytes/views.js'
import { type DTypeId, dtypeById, isSizeOf } from '../dtypes/index.js'
import { failWith, usageCodes, writeCodes } from '../errors/index.js'
import type { FormatId } from '../formats/index.js'
import { bytesPayload, type Metadata, type MetaValue, type Model, type Tensor } from '../model/index.js'
import type { MetadataDescription } from '../pack/description.js'
import { packModel } from '../pack/pack.js'
import { castTensor } from '../transforms/cast.js'
import type { WrittenFile } from '../writing/write-layout.js'
import { type Converted, type ConvertOptions, convert, type MemoryFile, type OpenSink } from './convert.js'

/** The element type that each array has. */
const typeOfArray = {
  Float64Array: 'f64',
  Float32Array: 'f32',
  BigInt64Array: 'i64',
  Int32Array: 'i32',
  Int16Array: 'i16',
  Int8Array: 'i8',
  BigUint64Array: 'u64',
  Uint32Array: 'u32',
  Uint16Array: 'u16',
  Uint8Array: 'u8',
} as const satisfies Record<string, DTypeId>

/** An array whose element type is clear. */
export type WritableArray =
  | Float64Array
  | Float32Array
  | BigInt64Array
  | Int32Array
  | Int16Array
  | Int8Array
  | BigUint64Array
  | Uint32Array
  | Uint16Array
  | Uint8Array

/** One tensor: values in an array, or `bytes` that are the stored form of a type that JavaScript has no array for. */
export type TensorContent =
  | {
      /** Outermost dimension first. */
      readonly shape: readonly number[]
      /** Row by row. */
      readonly data: WritableArray
      /** The type to store the values as. Default: that of the array. */
      readonly dtype?: DTypeId | undefined
    }
  | {
      readonly shape: readonly number[]
      /** Little-endian, row by row, as `dtype` stores them. */
      readonly bytes: Uint8Array
      readonly dtype: DTypeId
    }

/** A model to write. */
export interface ModelContent {
  /** By name, in the order in which they are written. */
  readonly tensors: Readonly<Record<string, TensorContent>> | ReadonlyMap<string, TensorContent>
  /** Texts, numbers, booleans and lists; or entries as an open model has them. */
  readonly metadata?: Readonly<Record<string, MetadataDescription>> | Metadata | undefined
}

/** How a model is written. */
export type WriteModelOptions = Omit<ConvertOptions, 'from' | 'headers' | 'cache' | 'siblings' | 'lenient' | 'limits'>

/**
 * Writes a model from arrays. The output is what it is for `convert`.
 *
 * @example
 * const tensors = { w: { shape: [2, 2], data: Float32Array.of(1, 2, 3, 4) } }
 * await writeModel({ tensors, metadata: { author: 'me' } }, 'tiny.safetensors')
 */
export async function writeModel(
  content: ModelContent,
  output: undefined,
  options: WriteModelOptions & { readonly to: FormatId },
): Promise<Converted<MemoryFile>>
export async function writeModel(
  content: ModelContent,
  output: string | OpenSink,
  options?: WriteModelOptions,
): Promise<Converted<WrittenFile>>
export async function writeModel(
  content: ModelContent,
  output: string | OpenSink | undefined,
  options: WriteModelOptions = {},
): Promise<Converted<WrittenFile | MemoryFile>> {
  const model = await modelOf(content)
  return convert(model, output as string, options)
}

/** The content as a model, which `planConversion` and all the others take. */
export async function modelOf({ tensors, metadata = {} }: ModelContent): Promise<Model> {
  const entries = tensors instanceof Map ? [...tensors] : Object.entries(tensors)
  return {
    format: 'arrays',
    metadata: isMetadata(metadata) ? metadata : await metadataOf(metadata),
    tensors: entries.map(([name, content]) => tensorOf(name, content)),
    parts: [],
    files: [],
  }
}

const isMetadata = (metadata: NonNullable<ModelContent['metadata']>): metadata is ReadonlyMap<string, MetaValue> =>
  metadata instanceof Map

const metadataOf = async (metadata: Readonly<Record<string, MetadataDescription>>): Promise<Metadata> =>
  (await packModel({ metadata }, { name: 'metadata' })).metadata

function tensorOf(name: string, content: TensorContent): Tensor {
  const data = 'bytes' in content ? content.bytes : content.data
  if (!ArrayBuffer.isView(data))
    failWith(usageCodes.option, {
      file: 'tensors',
      path: name,
      message: '`data` is a typed array, `bytes` a Uint8Array',
    })
  const stored = 'bytes' in content ? content.dtype : typeOfArray[data.constructor.name as keyof typeof typeOfArray]
  const dtype = typeOf(stored ?? String(data.constructor.name), name)
  const { shape } = content
  if (!shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0) || !isSizeOf(dtype, shape, data.byteLength)) {
    const message = `${data.byteLength} bytes were given, but shape [${shape.join(', ')}] of ${dtype.id} takes ${dtype.byteLength(shape) ?? 'something else'}`
    failWith(writeCodes['size-mismatch'], { file: 'tensors', path: name, message })
  }
  const bytes = 'bytes' in content ? content.bytes : littleEndian(content.data)
  const tensor: Tensor = { name, dtype, shape, order: 'row', role: 'weight', data: bytesPayload(bytes) }
  const wanted = content.dtype === undefined ? dtype : typeOf(content.dtype, name)
  return wanted === dtype ? tensor : castTensor(tensor, wanted)
}

function typeOf(id: string, path: string) {
  return dtypeById(id) ?? failWith(usageCodes.option, { file: 'dtype', path, message: `there is no type "${id}"` })
}

function littleEndian(values: WritableArray): Uint8Array {
  const bytes = bytesOf(values)
  if (littleEndianHost) return bytes
  const copy = bytes.slice()
  swapBytes(copy, values.BYTES_PER_ELEMENT)
  return copy
}
