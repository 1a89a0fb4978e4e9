// The header: compact JSON, metadata first and sorted, then the tensors in the order of the file.
import { compareUtf8, encodeUtf8 } from '../../bytes/index.js'
import { failWith, writeCodes } from '../../errors/index.js'
import { type BytesSlot, type Metadata, madeSlot, type Slot, slotLength, type Tensor } from '../../model/index.js'
import { tagByDType } from './dtypes.js'
import { entryPath } from './header.js'
import { metadataKey, prefix } from './structs.js'

/** The header is made piece by piece, and again each time: it can have 100 MB, and its text takes a multiple of that. */
const tensorsPerPiece = 512

/** The JSON in pieces. The tensors lie one after the other, unless `offsetOf` says where in the data each one begins. */
export function encodeHeader(
  tensors: readonly Tensor[],
  metadata: Metadata,
  offsetOf?: (tensor: Tensor) => number,
): BytesSlot[] {
  const pieces: BytesSlot[] = []
  const start = `{${metadata.size > 0 ? encodeMetadata(metadata) : ''}`
  const count = tensors.length
  for (let from = 0, begin = 0; from === 0 || from < count; from += tensorsPerPiece) {
    const part = (): readonly Tensor[] => tensors.slice(from, from + tensorsPerPiece)
    const first = begin
    const make = (): Uint8Array => {
      let end = first
      const members = part().map((tensor) => {
        const offset = offsetOf ? offsetOf(tensor) : end
        const member = encodeMember(tensor, offset)
        end = offset + tensor.data!.byteLength
        return member
      })
      const before = from > 0 ? ',' : start + (metadata.size > 0 && count > 0 ? ',' : '')
      return encodeUtf8(`${before}${members.join()}${from + tensorsPerPiece >= count ? '}' : ''}`)
    }
    pieces.push(madeSlot('header', make().byteLength, make))
    for (const { data } of part()) begin += data!.byteLength
  }
  return pieces
}

export const headerLength = (json: readonly BytesSlot[]): number =>
  json.reduce((length, piece) => length + slotLength(piece), 0)

/** The length, and the header filled up to it with spaces. */
export function headerSlots(json: readonly BytesSlot[], length: number): Slot[] {
  const slots: Slot[] = [
    { kind: 'bytes', path: 'header_length', bytes: prefix.write({ headerLength: BigInt(length) }) },
    ...json,
  ]
  const padding = new Uint8Array(length - headerLength(json)).fill(0x20)
  if (padding.byteLength > 0) slots.push({ kind: 'bytes', path: 'header_padding', bytes: padding })
  return slots
}

function encodeMetadata(metadata: Metadata): string {
  const sorted = [...metadata].toSorted(([a], [b]) => compareUtf8(a, b))
  const pairs = sorted.map(([key, value]) => {
    if (value.type !== 'str')
      failWith(writeCodes['name-unsupported'], { file: '', path: key, message: 'metadata must be strings' })
    return `${JSON.stringify(key)}:${JSON.stringify(value.value)}`
  })
  return `${JSON.stringify(metadataKey)}:{${pairs.join(',')}}`
}

function encodeMember({ name, dtype, shape, data }: Tensor, offset: number): string {
  const tag = tagByDType.get(dtype.id)
  if (!tag || !data) {
    const message = tag
      ? 'a tensor without data has no place in safetensors'
      : `safetensors has no type for ${dtype.id}`
    failWith(writeCodes['dtype-unsupported'], { file: '', path: entryPath(name), message })
  }
  const range = `"data_offsets":[${offset},${offset + data.byteLength}]`
  return `${JSON.stringify(name)}:{"dtype":"${tag.tag}","shape":[${shape.join(',')}],${range}}`
}
