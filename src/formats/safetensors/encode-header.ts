// The header: compact JSON, metadata first and sorted, then the tensors in the order of the file.
import { compareUtf8, encodeUtf8, struct, u64 } from '../../bytes/index.js'
import { failWith, writeCodes } from '../../errors/index.js'
import type { Metadata, Slot, Tensor } from '../../model/index.js'
import { MadeBytes } from '../../writing/made-bytes.js'
import { tagByDType } from './dtypes.js'
import { entryPath } from './header.js'
import { metadataKey } from './limits.js'

const prefix = struct({ headerLength: u64 })
export const prefixSize = prefix.size

/** So many members become bytes together: as texts, those of a whole header would take several times its size. */
const membersTogether = 4096

/** One tensor lies behind the other, unless `offsetOf` says where in the data section each one begins. */
export function encodeHeader(
  tensors: readonly Tensor[],
  metadata: Metadata,
  offsetOf?: (tensor: Tensor) => number,
): MadeBytes {
  const pieces = Math.max(1, Math.ceil(tensors.length / membersTogether))
  /** Where the first tensor of each piece begins, as far as pieces were made. */
  const starts = new Float64Array(pieces + 1)
  return new MadeBytes(pieces, (piece) => {
    const members = piece === 0 ? metadataMembers(metadata) : []
    const last = Math.min((piece + 1) * membersTogether, tensors.length)
    let offset = starts[piece]!
    for (let i = piece * membersTogether; i < last; i++) {
      const tensor = tensors.at(i)!
      members.push(encodeMember(tensor, offsetOf ? offsetOf(tensor) : offset))
      offset += tensor.data!.byteLength
    }
    starts[piece + 1] = offset
    return encodeUtf8(`${piece === 0 ? '{' : ''}${members.join(',')}${piece === pieces - 1 ? '}' : ','}`)
  })
}

/** The length, and the header filled up to it with spaces. */
export function* headerSlots(json: MadeBytes, length: number): Generator<Slot, void, void> {
  yield { kind: 'bytes', path: 'header_length', bytes: prefix.write({ headerLength: BigInt(length) }) }
  yield* json.slots('header')
  const padding = new Uint8Array(length - json.length).fill(0x20)
  if (padding.byteLength > 0) yield { kind: 'bytes', path: 'header_padding', bytes: padding }
}

function metadataMembers(metadata: Metadata): string[] {
  if (metadata.size === 0) return []
  const sorted = [...metadata].toSorted(([a], [b]) => compareUtf8(a, b))
  const pairs = sorted.map(([key, value]) => {
    if (value.type !== 'str')
      failWith(writeCodes['name-unsupported'], { file: '', path: key, message: 'metadata must be strings' })
    return `${JSON.stringify(key)}:${JSON.stringify(value.value)}`
  })
  return [`${JSON.stringify(metadataKey)}:{${pairs.join(',')}}`]
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
