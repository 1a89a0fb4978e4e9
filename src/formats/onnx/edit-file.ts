// A model with other metadata and other names of tensors. A graph cannot be written from what tare knows of it, so the file stays as it is but for
// the fields that change.
import { decodeUtf8 } from '../../bytes/index.js'
import { failWith, strictReport, writeCodes } from '../../errors/index.js'
import type { FileLayout, Model, WriteOptions } from '../../model/index.js'
import { type MessageSpec, ProtobufReader } from '../../wire/protobuf/protobuf.js'
import { ownCodes as codes } from './codes.js'
import { FieldEdits } from './edit-fields.js'
import { entryMessage, graphMessage, modelMessage, opsetMessage } from './messages.js'
import { textKey } from './name-key.js'
import { collected } from './read.js'
import { mainGraph, type NamesByGraph, Renamer } from './rename.js'
import { type FieldPlace, placeOf, Splices } from './splices.js'

export async function editFile(model: Model, edited: Model, { name, signal }: WriteOptions): Promise<FileLayout> {
  const source = model.files[0]!
  const reader = new ProtobufReader(source, strictReport(source.name), { signal })
  const splices = new Splices()
  const fields = new FieldEdits(model.metadata, edited.metadata, source.name)
  const names = newNames(model, edited)
  const renamer = names.size > 0 ? new Renamer(reader, splices, names) : undefined
  let training = 0

  await reader.walk(0, source.size, '', modelMessage, async () => {
    const place = placeOf(reader)
    if (place.field === 7) await editGraph(place)
    else if (place.field === 8) replace(place, fields.opset(await textIn(place, opsetMessage)))
    else if (place.field === 14) replace(place, fields.property(await textIn(place, entryMessage)))
    else if (place.field === 20) await renamer?.training(place, `training_info[${training++}]`)
    else replace(place, fields.modelField(place.field))
    return true
  })
  splices.replace(source.size, source.size, fields.addedTo('model'))
  renamer?.checkNames(source.name)
  return { name, slots: await splices.slots(source, signal) }

  function replace(place: FieldPlace, bytes: Uint8Array | undefined): void {
    if (bytes) splices.replaceField(place, bytes)
  }

  /** The first text of a pair: the domain of an operator set, the key of a property. */
  async function textIn({ start, end }: FieldPlace, spec: MessageSpec): Promise<string> {
    let text = ''
    await reader.walk(start, end, '', spec, () => {
      if (reader.field !== 1) return true
      const taken = reader.withPayload((bytes) => {
        text = decodeUtf8(bytes) ?? ''
      })
      return taken === false || taken.then(() => true)
    })
    return text
  }

  async function editGraph(place: FieldPlace): Promise<void> {
    await splices.inside(place, async () => {
      await reader.walk(place.start, place.end, '', graphMessage, () => {
        replace(placeOf(reader), fields.graphField(reader.field))
        return true
      })
      await renamer?.inGraph(place, mainGraph)
      splices.replace(place.end, place.end, fields.addedTo('graph'))
    })
  }
}

/** For each graph the names that change. Tensors that have one name in one graph are one to everybody who refers to them. */
function newNames(model: Model, edited: Model): NamesByGraph {
  const { places } = collected.get(model)!
  const byGraph = new Map<string, Map<string, string>>()
  const taken = new Set<string>()
  const file = model.files[0]!.name
  for (const [i, { scope, name }] of places.entries()) {
    const to = edited.tensors.at(i)!.name
    if (taken.has(to)) {
      const message = `two tensors would be called ${JSON.stringify(to)}`
      failWith(writeCodes['duplicate-name'], { file, path: to, message })
    }
    taken.add(to)
    if (to === model.tensors.at(i)!.name) continue
    if (textKey(name) === '') failWith(codes['name-absent'], { file, path: to, message: 'the tensor has no name' })
    const path = scope.path ?? mainGraph
    const names = byGraph.get(path) ?? new Map<string, string>()
    byGraph.set(path, names.set(textKey(name), to))
  }
  return byGraph
}
