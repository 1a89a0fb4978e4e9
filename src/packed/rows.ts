// Decodes packed weights by bands of rows. What has values for each row is streamed beside the codes; only small tables are kept.
import { checkAborted } from '../bytes/index.js'
import { writeLittleEndian } from '../bytes/views.js'
import { f32 } from '../dtypes/index.js'
import { type Payload, readPayload, type Tensor } from '../model/index.js'
import { ByteStream } from '../payloads/byte-stream.js'
import { stridedPayload } from '../payloads/strided-payload.js'
import { castTensor } from '../transforms/cast.js'
import { fileOf } from '../transforms/map-elements.js'
import { packedCodes } from './codes.js'
import { refusePacked, shapeOf } from './refusal.js'

/** A tensor regarded as a matrix with values for rows of the weight. */
export interface RowInput {
  readonly tensor: Tensor
  readonly data: Payload
  /** The bytes of an element. */
  readonly size: number
  readonly columns: number
  /** How many elements apart rows and columns lie. */
  readonly strides: readonly [row: number, column: number]
  /** Which row belongs to a row of the weight: the same or the next one as for the row before it. */
  rowOf(row: number): number
}

export interface PackedMatrix {
  readonly shape: readonly number[]
  /** All dimensions of the shape but the last, or another division of the same elements. */
  readonly rows: number
  readonly columns: number
  readonly inputs: readonly RowInput[]
  /** Read whole before the first row is decoded. */
  readonly tables: readonly Tensor[]
  decode(band: Band): void
}

/** Some rows of the weight, and the rows of each input that they need. */
export interface Band {
  readonly first: number
  readonly count: number
  /** To be filled, row by row. */
  readonly values: Float32Array
  readonly inputs: readonly InputRows[]
  readonly tables: readonly Uint8Array[]
}

export interface InputRows {
  readonly bytes: Uint8Array
  /** The row that the bytes begin with. */
  readonly first: number
}

const bandElements = 1 << 18
/** A row is decoded at once; no weight has longer ones. */
const maxColumns = 1 << 24
const maxTable = 1 << 26

interface InputForm {
  readonly columns: number
  readonly isTransposed?: boolean
  readonly rowOf?: (row: number) => number
}

/** The tensor must have exactly the elements that the rows of the weight need. */
export function rowInput(
  tensor: Tensor,
  rows: number,
  { columns, isTransposed = false, rowOf = (row) => row }: InputForm,
): RowInput {
  const { bytes: size, elements } = tensor.dtype.group
  const count = rows === 0 ? 0 : rowOf(rows - 1) + 1
  if (!tensor.data || elements !== 1 || tensor.order !== 'row' || tensor.data.byteLength !== count * columns * size)
    refusePacked(tensor, `its shape is ${shapeOf(tensor)}; ${count} × ${columns} elements were expected`)
  return { tensor, data: tensor.data!, size, columns, rowOf, strides: isTransposed ? [1, count] : [columns, 1] }
}

/** The same for scales, which are decoded as f32. */
export const floatInput = (tensor: Tensor, rows: number, form: InputForm): RowInput =>
  rowInput(castTensor(tensor, f32), rows, form)

/** Refuses what no weight can be, and returns the length of its values as f32. */
export function decodedLength({ rows, columns, tables }: PackedMatrix, name: Tensor): number {
  const byteLength = rows * columns * 4
  if (!Number.isSafeInteger(byteLength) || columns > maxColumns)
    refusePacked(name, `rows of ${columns} elements are longer than those of any weight`)
  for (const table of tables)
    if (table.data!.byteLength > maxTable)
      refusePacked(table, `${table.data!.byteLength} bytes are too many for a table`)
  return byteLength
}

/** A part of the values as f32. */
export async function* decodedRange(
  matrix: PackedMatrix,
  offset: number,
  length: number,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  if (length === 0) return
  const rowBytes = matrix.columns * 4
  const first = Math.floor(offset / rowBytes)
  const last = Math.ceil((offset + length) / rowBytes)
  let at = first * rowBytes - offset
  for await (const piece of bands(matrix, first, last - first, signal)) {
    const part = piece.subarray(Math.max(0, -at), Math.min(piece.byteLength, length - at))
    at += piece.byteLength
    yield part
  }
}

async function* bands(
  matrix: PackedMatrix,
  first: number,
  count: number,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const { columns, inputs } = matrix
  if (count === 0 || columns === 0) return
  const tables = await Promise.all(matrix.tables.map((table) => readPayload(table.data!, signal)))
  const step = Math.min(count, Math.max(1, Math.floor(bandElements / columns)))
  const readers = inputs.map((input) => new RowReader(input, first, count, signal))
  const values = new Float32Array(step * columns)
  const bytes = new Uint8Array(values.byteLength)
  try {
    for (let row = first; row < first + count; row += step) {
      checkAborted(signal, fileOf(inputs[0]!.data))
      const some = Math.min(step, first + count - row)
      const part = values.subarray(0, some * columns)
      const rows: InputRows[] = []
      for (const reader of readers) rows.push(await reader.rows(row, some))
      matrix.decode({ first: row, count: some, values: part, inputs: rows, tables })
      writeLittleEndian(part, bytes)
      yield bytes.subarray(0, part.byteLength)
    }
  } finally {
    for (const reader of readers) await reader.close()
  }
}

/** The rows of an input in order; bands that meet in one of its rows get it twice. */
class RowReader {
  readonly #input: RowInput
  readonly #stream: ByteStream
  #next: number
  #last: Uint8Array = new Uint8Array()

  constructor(input: RowInput, first: number, count: number, signal?: AbortSignal) {
    const { data, size, columns, strides, tensor } = input
    const start = input.rowOf(first)
    const length = input.rowOf(first + count - 1) + 1 - start
    const refusal = { file: fileOf(tensor.data), code: packedCodes.form }
    const rows = stridedPayload(data, [length, columns], strides, size, refusal, start * strides[0])
    this.#input = input
    this.#stream = new ByteStream(rows, signal)
    this.#next = start
  }

  async rows(first: number, count: number): Promise<InputRows> {
    const { size, columns } = this.#input
    const rowBytes = size * columns
    const start = this.#input.rowOf(first)
    const end = this.#input.rowOf(first + count - 1) + 1
    const bytes = new Uint8Array((end - start) * rowBytes)
    const kept = start < this.#next ? this.#last : bytes.subarray(0, 0)
    bytes.set(kept)
    await this.#stream.fill(bytes.subarray(kept.byteLength))
    this.#next = end
    this.#last = bytes.slice(bytes.byteLength - rowBytes)
    return { bytes, first: start }
  }

  close(): Promise<void> {
    return this.#stream.close()
  }
}
