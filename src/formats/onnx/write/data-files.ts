// Data in other files: which tensors go there, and where they lie. Protobuf readers refuse messages of 2 GiB, so that larger models keep their
// data beside them. Files are called as hubs publish them: model.onnx_data, model.onnx_data_1, …
import { alignUp } from '../../../bytes/index.js'
import { dataSlot, type FileLayout, type Payload, type Slot } from '../../../model/index.js'
import { protoBytes, protoInt, protoMessage, protoText, type Rope } from '../../../wire/protobuf/write.js'

/** Protobuf readers refuse larger messages. */
export const maxMessage = 2 ** 31 - 1
/** Smaller tensors stay in the model: shapes and scales are needed to plan a graph. */
const minExternal = 1024

/** Pages of the system, so that files can be mapped into memory; small tensors would waste most of one. */
const page = 4096
const small = 1 << 16
const smallAlign = 64

interface DataFile {
  readonly name: string
  size: number
  readonly slots: Slot[]
}

export interface DataFilesOptions {
  /** The file name of the model. */
  readonly name: string
  readonly maxSize?: number | undefined
  readonly align?: number | undefined
}

export class DataFiles {
  readonly #files: DataFile[] = []
  readonly #options: DataFilesOptions

  constructor(options: DataFilesOptions) {
    this.#options = options
  }

  /** What a tensor says about its data: the data themselves where they are small, and else where they lie from now on. */
  fields(name: string, payload: Payload): Rope<Payload> {
    return payload.byteLength >= minExternal ? this.#add(name, payload) : protoBytes<Payload>(9, payload)
  }

  #add(name: string, payload: Payload): Rope<Payload> {
    const { align = payload.byteLength < small ? smallAlign : page } = this.#options
    const file = this.#fileFor(payload.byteLength, align)
    const offset = alignUp(file.size, align)
    if (offset > file.size) file.slots.push({ kind: 'zeros', path: 'padding', length: offset - file.size })
    file.slots.push(dataSlot(name, payload))
    file.size = offset + payload.byteLength
    const entries = { location: file.name, offset, length: payload.byteLength }
    const fields = Object.entries(entries).map(([key, value]) =>
      protoMessage(13, [protoText(1, key), protoText(2, String(value))]),
    )
    const ropes = [...fields, protoInt(14, 1)]
    return {
      byteLength: ropes.reduce((sum, rope) => sum + rope.byteLength, 0),
      pieces: ropes.flatMap(({ pieces }) => pieces),
    }
  }

  #fileFor(length: number, align: number): DataFile {
    const { name, maxSize = Number.POSITIVE_INFINITY } = this.#options
    const last = this.#files.at(-1)
    if (last && alignUp(last.size, align) + length <= maxSize) return last
    const count = this.#files.length
    const file: DataFile = { name: `${name}_data${count === 0 ? '' : `_${count}`}`, size: 0, slots: [] }
    this.#files.push(file)
    return file
  }

  get layouts(): readonly FileLayout[] {
    return this.#files.map(({ name, slots }) => ({ name, slots }))
  }
}

/** What a tensor says about its type and its data. */
export function dataFields(type: number, name: string, payload: Payload, files: DataFiles | undefined): Rope<Payload> {
  const kind = protoInt(2, type)
  const data = files ? files.fields(name, payload) : protoBytes<Payload>(9, payload)
  return { byteLength: kind.byteLength + data.byteLength, pieces: [...kind.pieces, ...data.pieces] }
}

/** The pieces of a file, one after the other. */
export function slotsOf(pieces: Iterable<Uint8Array | Payload>): Slot[] {
  return Array.from(pieces, (piece, i) =>
    piece instanceof Uint8Array
      ? { kind: 'bytes', path: `file[${i}]`, bytes: piece }
      : { kind: 'payload', path: `data[${i}]`, payload: piece },
  )
}
