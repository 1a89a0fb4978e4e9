// Arrays in files beside the description: `.npy`, which says itself what it holds, or the bare elements. Nothing is read here but a
// header; the elements flow when the output is written.
import type { ByteSource } from '../bytes/index.js'
import { type DType, dtypeById } from '../dtypes/index.js'
import { strictReport, TareError } from '../errors/index.js'
import { rangePayload, type Tensor } from '../model/index.js'
import { readNpyHeader } from '../wire/npy-parse.js'
import { checkedCast, littleEndian } from './checked-cast.js'
import { packCodes } from './codes.js'
import { type Field, fail, textOf } from './field.js'
import { countOf } from './inline.js'
import { requireShape, type Shape } from './shape.js'

export interface FileContext {
  /** Opens a file that the description names, once however often it is named. */
  openFile(name: string): Promise<ByteSource>
  readonly signal?: AbortSignal | undefined
}

export type FileArray = Pick<Tensor, 'dtype' | 'shape' | 'order' | 'data'>

interface Stated {
  readonly dtype: DType | undefined
  readonly shape: Shape | undefined
}

export async function readDataFile(field: Field, stated: Stated, context: FileContext): Promise<FileArray> {
  const name = textOf(field, 'the name of a file')
  const source = await explain(field, name, () => context.openFile(name))
  if (!name.toLowerCase().endsWith('.npy')) return rawArray(field, source, stated)
  const array = await explain(field, name, () => npyArray(field, source, context.signal))
  if (stated.shape) requireShape(stated.shape, array.shape, name)
  if (!stated.dtype) return array
  const { dtype, shape, order, data } = checkedCast({ ...array, name: field.path, role: 'weight' }, stated.dtype, field)
  return { dtype, shape, order, data }
}

/** What went wrong in the file, as an error of the field that names it. */
async function explain<T>(field: Field, name: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof TareError) || error.finding.file === field.file) throw error
    return fail(field, packCodes['data-file'], `${name}: ${error.finding.message} (${error.code})`, error)
  }
}

async function npyArray(field: Field, source: ByteSource, signal: AbortSignal | undefined): Promise<FileArray> {
  const header = await readNpyHeader(source, strictReport(source.name), signal)
  const { descr, shape, dataOffset, fortranOrder } = header
  const dtype = header.dtype === undefined ? undefined : dtypeById(header.dtype)
  if (!dtype)
    return fail(field, packCodes['data-file'], `${source.name}: the type ${JSON.stringify(descr)} is not numeric`)
  const wanted = countOf(shape)! * header.itemSize
  if (source.size !== dataOffset + wanted) {
    const message = `${source.name}: ${dtype.id} [${shape.join(', ')}] takes ${wanted} bytes, the file has ${source.size - dataOffset} after its header`
    fail(field, packCodes['data-file'], message)
  }
  const stored = rangePayload(source, dataOffset, wanted)
  const data = header.bigEndian && dtype.group.bytes > 1 ? littleEndian(stored, dtype, flat(shape)) : stored
  return { dtype, shape, order: fortranOrder ? 'column' : 'row', data }
}

/** One dimension, so that a product with a zero in it cannot overflow. */
const flat = (shape: readonly number[]): number[] => [countOf(shape)!]

function rawArray(field: Field, source: ByteSource, { dtype, shape }: Stated): FileArray {
  if (!dtype || !shape)
    return fail(
      field,
      packCodes.missing,
      `${source.name} holds bare elements: say their ${dtype ? 'shape' : 'dtype'} too`,
    )
  const wanted = dtype.byteLength(shape.dims.includes(0) ? [0] : shape.dims)
  if (wanted === undefined)
    return fail(shape.field, packCodes['shape-mismatch'], `[${shape.dims.join(', ')}] is impossible for ${dtype.id}`)
  if (source.size !== wanted) {
    const message = `${source.name} has ${source.size} bytes, but ${dtype.id} [${shape.dims.join(', ')}] takes ${wanted}`
    fail(field, packCodes['shape-mismatch'], message)
  }
  return { dtype, shape: shape.dims, order: 'row', data: rangePayload(source, 0, wanted) }
}
