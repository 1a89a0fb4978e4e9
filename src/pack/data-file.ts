// Arrays in files beside the description: `.npy` and `.npz` files, which describe themselves, or raw elements. Only headers are read here;
// the elements are streamed when the output is written.
import type { ByteSource } from '../bytes/index.js'
import { type DType, dtypeById } from '../dtypes/index.js'
import { ioCodes, strictReport, TareError } from '../errors/index.js'
import { type Payload, rangePayload, type Tensor } from '../model/index.js'
import { type NpyHeader, readNpyHeader } from '../wire/npy/parse.js'
import { checkedCast, checkedElements, littleEndian } from './checked-data.js'
import { packCodes } from './codes.js'
import { type Field, fail, textOf } from './field.js'
import { countOf } from './inline.js'
import { arraysOf, chooseArray, openArray } from './npz.js'
import { requireShape, type Shape } from './shape.js'

export interface FileContext {
  /** Opens a file that the description names, once however often it is named. */
  openFile(name: string): Promise<ByteSource>
  readonly signal?: AbortSignal | undefined
}

export type FileArray = Pick<Tensor, 'dtype' | 'shape' | 'order' | 'data'>

/** What the description states in addition to the file name. */
interface Stated {
  readonly dtype: DType | undefined
  readonly shape: Shape | undefined
  /** Which array of an archive. */
  readonly member: Field | undefined
  /** The name of the tensor or entry. */
  readonly name: string
}

export async function readDataFile(field: Field, stated: Stated, context: FileContext): Promise<FileArray> {
  const name = textOf(field, 'the name of a file')
  const kind = /\.np[yz]$/.exec(name.toLowerCase())?.[0]
  if (stated.member && kind !== '.npz')
    fail(stated.member, packCodes.conflict, `only .npz files have members, and ${name} is none`)
  const source = await explain(field, name, () => context.openFile(name))
  if (kind === undefined) return rawArray(field, source, stated)
  const read = kind === '.npz' ? archivedArray : npyArray
  const array = await explain(field, name, () => read(field, source, stated, context.signal))
  if (stated.shape) requireShape(stated.shape, array.shape, name)
  if (!stated.dtype) return array
  const { dtype, shape, order, data } = checkedCast({ ...array, name: field.path, role: 'weight' }, stated.dtype, field)
  return { dtype, shape, order, data }
}

/** Reports an error in the file as an error of the field that names it. */
async function explain<T>(field: Field, name: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    return failFor(field, name, error)
  }
}

/** The same for errors while elements are streamed: damage inside an archive shows only then. */
function explained(field: Field, name: string, payload: Payload): Payload {
  return {
    byteLength: payload.byteLength,
    async *chunks(window, signal) {
      try {
        yield* payload.chunks(window, signal)
      } catch (error) {
        failFor(field, name, error)
      }
    },
  }
}

function failFor(field: Field, name: string, error: unknown): never {
  const isForeign = error instanceof TareError && error.finding.file !== field.file
  if (!isForeign || error.code === ioCodes.aborted.code) throw error
  return fail(field, packCodes['data-file'], `${name}: ${error.finding.message} (${error.code})`, error)
}

async function npyArray(
  field: Field,
  source: ByteSource,
  _stated: Stated,
  signal: AbortSignal | undefined,
): Promise<FileArray> {
  const header = await readNpyHeader(source, strictReport(source.name), signal)
  const size = source.size - header.dataOffset
  return arrayOf(field, source.name, header, size, () => rangePayload(source, header.dataOffset, size))
}

async function archivedArray(
  field: Field,
  source: ByteSource,
  { member: asked, name }: Stated,
  signal: AbortSignal | undefined,
): Promise<FileArray> {
  const arrays = await arraysOf(source, signal)
  const member = chooseArray(arrays, asked && textOf(asked, 'the name of an array'), name)
  if (typeof member === 'string') return fail(asked ?? field, packCodes['data-file'], `${source.name}: ${member}`)
  const { header, size, payload } = await openArray(source, member, signal)
  return arrayOf(field, `${source.name} ${member.name}`, header, size, () => explained(field, source.name, payload))
}

/** `size` is the number of bytes after the header. */
function arrayOf(field: Field, file: string, header: NpyHeader, size: number, payload: () => Payload): FileArray {
  const { descr, shape, fortranOrder } = header
  const dtype = header.dtype === undefined ? undefined : dtypeById(header.dtype)
  if (!dtype) return fail(field, packCodes['data-file'], `${file}: the type ${JSON.stringify(descr)} is not numeric`)
  const wanted = countOf(shape)! * header.itemSize
  if (size !== wanted) {
    const message = `${file}: ${dtype.id} [${shape.join(', ')}] takes ${wanted} bytes, the file has ${size} after its header`
    fail(field, packCodes['data-file'], message)
  }
  const stored = payload()
  if (dtype.kind === 'bool' && !fortranOrder)
    return { dtype, shape, order: 'row', data: checkedElements(stored, dtype, countOf(shape)!, field) }
  const data = header.bigEndian && dtype.group.bytes > 1 ? littleEndian(stored, dtype, flat(shape)) : stored
  return { dtype, shape, order: fortranOrder ? 'column' : 'row', data }
}

/** One dimension, so that a product that contains a zero cannot overflow. */
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
  const data = checkedElements(rangePayload(source, 0, wanted), dtype, countOf(shape.dims)!, field)
  return { dtype, shape: shape.dims, order: 'row', data }
}
