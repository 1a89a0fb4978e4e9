// The header: compact JSON, metadata first and sorted, then the tensors in the order of the file.
import { compareUtf8, encodeUtf8 } from '../../bytes/index.js'
import { failWith, writeCodes } from '../../errors/index.js'
import type { Metadata, Slot, Tensor } from '../../model/index.js'
import { tagByDType } from './dtypes.js'
import { entryPath } from './header.js'
import { metadataKey, prefix } from './structs.js'

/** The text becomes bytes piece by piece: a header can have 100 MB, and its text takes a multiple of that. */
const pieceLength = 1 << 16

/** The JSON in pieces. The tensors lie one after the other, unless `offsetOf` says where in the data each one begins. */
export function encodeHeader(
  tensors: readonly Tensor[],
  metadata: Metadata,
  offsetOf?: (tensor: Tensor) => number,
): Uint8Array[] {
  const pieces: Uint8Array[] = []
  let text = `{${metadata.size > 0 ? encodeMetadata(metadata) : ''}`
  let separator = metadata.size > 0 ? ',' : ''
  let end = 0
  for (const tensor of tensors) {
    const offset = offsetOf ? offsetOf(tensor) : end
    text += separator + encodeMember(tensor, offset)
    separator = ','
    end = offset + tensor.data!.byteLength
    if (text.length < pieceLength) continue
    pieces.push(encodeUtf8(text))
    text = ''
  }
  pieces.push(encodeUtf8(`${text}}`))
  return pieces
}

export const headerLength = (json: readonly Uint8Array[]): number =>
  json.reduce((length, piece) => length + piece.byteLength, 0)

/** The length, and the header filled up to it with spaces. */
export function headerSlots(json: readonly Uint8Array[], length: number): Slot[] {
  const slots: Slot[] = [
    { kind: 'bytes', path: 'header_length', bytes: prefix.write({ headerLength: BigInt(length) }) },
    ...json.map((bytes) => ({ kind: 'bytes' as const, path: 'header', bytes })),
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
