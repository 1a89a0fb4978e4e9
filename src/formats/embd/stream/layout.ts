// Writing the stream layout, with the same bytes as the reference converter.
import { encodeUtf8, joinBytes } from '../../../bytes/index.js'
import { vocabularyOf } from '../../../content/vocabulary.js'
import { failWith, writeCodes } from '../../../errors/index.js'
import {
  type FileLayout,
  fileLength,
  type Model,
  type Slot,
  slotsMadeBy,
  type Tensor,
  type WriteOptions,
} from '../../../model/index.js'
import { codes } from '../codes.js'
import { magic, maxRank, maxStringLength, maxTokenCount, u32Bytes } from '../structs.js'
import { inFileOrder } from '../tensor-order.js'

export function layoutStream(model: Model, { name: file }: WriteOptions): FileLayout {
  const tensors = inFileOrder(model)
  const tokens = vocabularyOf(model.parts)?.tokens ?? []
  if (tokens.length > maxTokenCount) {
    const message = `${tokens.length} tokens, but readers of stream files take at most ${maxTokenCount}`
    failWith(codes['write-limit'], { file, path: 'vocab', message })
  }
  for (const [id, token] of tokens.entries()) checkLength(token.byteLength, file, `vocab.tokens[${id}]`)
  const records = tokens.flatMap((token) => [u32Bytes(token.byteLength), token])
  const vocab = joinBytes([u32Bytes(tokens.length), ...records])
  const slots = slotsMadeBy(function* () {
    yield { kind: 'bytes', path: 'header', bytes: joinBytes([magic, u32Bytes(1), u32Bytes(tensors.length)]) }
    for (const tensor of tensors) yield* tensorSlots(tensor, file)
    yield { kind: 'bytes', path: 'vocab', bytes: vocab }
  })
  const layout = { name: file, slots }
  fileLength(layout) // goes through all slots, so that what cannot be written is refused here
  return layout
}

function tensorSlots({ name, dtype, shape, data }: Tensor, file: string): Slot[] {
  if (dtype.id !== 'f32' || !data) {
    const message = data ? `stream files hold f32 only, not ${dtype.id}; cast it` : 'the tensor has no data'
    return failWith(writeCodes['dtype-unsupported'], { file, path: name, message })
  }
  if (shape.length < 1 || shape.length > maxRank || shape.some((dim) => dim < 1 || dim > 0xffffffff))
    failWith(codes['write-limit'], { file, path: name, message: `the shape [${shape.join(', ')}] has no place here` })
  const text = encodeUtf8(name)
  checkLength(text.byteLength, file, name)
  const record = new Uint8Array(8 + text.byteLength + 4 * shape.length)
  const view = new DataView(record.buffer)
  view.setUint32(0, text.byteLength, true)
  record.set(text, 4)
  for (const [i, number] of [shape.length, ...shape].entries())
    view.setUint32(4 + text.byteLength + 4 * i, number, true)
  const shown = JSON.stringify(name)
  return [
    { kind: 'bytes', path: `tensors[${shown}]`, bytes: record },
    { kind: 'payload', path: `data[${shown}]`, payload: data },
  ]
}

function checkLength(length: number, file: string, path: string): void {
  if (length <= maxStringLength) return
  const message = `${length} bytes, but readers of stream files take at most ${maxStringLength}`
  failWith(codes['write-limit'], { file, path, message })
}
