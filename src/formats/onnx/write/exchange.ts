// The tensors of any model as the initializers of a graph without nodes. Nothing computes with it: it is for programs that read weights from
// ONNX files.
import { encodeUtf8 } from '../../../bytes/index.js'
import { companionFiles } from '../../../content/companions.js'
import type { Layout, Metadata, Model, Payload, Tensor, WriteOptions } from '../../../model/index.js'
import { joinRopes, protoBytes, protoInt, protoMessage, type Rope } from '../../../wire/protobuf/write.js'
import { FieldEdits } from '../edit/fields.js'
import { typeNumbers } from '../tensors/data-types.js'
import { defaultMetadata } from '../words.js'
import { DataFiles, dataFields, maxMessage, slotsOf } from './data-files.js'

/** One file, with others for the data where they are too large for it, or are to be split. */
export function exchangeLayout(model: Model, { name, shardSize, align }: WriteOptions): Layout {
  const metadata: Metadata = new Map([...defaultMetadata, ...model.metadata])
  const fields = new FieldEdits(new Map(), metadata, name)
  const inline = fileOf(model.tensors, fields, undefined)
  if (shardSize === undefined && inline.byteLength <= maxMessage)
    return { files: [{ name, slots: slotsOf(inline.pieces) }, ...companionFiles(model)] }
  const data = new DataFiles({ name, maxSize: shardSize, align })
  const { pieces } = fileOf(model.tensors, fields, data)
  return { files: [{ name, slots: slotsOf(pieces) }, ...data.layouts, ...companionFiles(model)] }
}

function fileOf(tensors: readonly Tensor[], fields: FieldEdits, data: DataFiles | undefined): Rope<Payload> {
  const graph = [bytes(fields.addedTo('graph')), ...tensors.map((tensor) => initializer(tensor, data))]
  return joinRopes<Payload>([bytes(fields.addedTo('model')), protoMessage<Payload>(7, graph)])
}

function initializer({ name, rawName, dtype, shape, data }: Tensor, files: DataFiles | undefined): Rope<Payload> {
  const dims = shape.map((dim) => protoInt(1, dim))
  const type = typeNumbers.get(dtype.id)!
  const nameField = protoBytes<never>(8, rawName?.[0] ?? encodeUtf8(name))
  return protoMessage<Payload>(5, [...dims, nameField, dataFields(type, name, data!, files)])
}

const bytes = (piece: Uint8Array): Rope => ({ byteLength: piece.byteLength, pieces: [piece] })
