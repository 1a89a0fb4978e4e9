// A model with other metadata and other names of tensors. What tare knows of a graph is not enough to write it, so the file stays as it is except
// for the fields that change.
import { decodeUtf8 } from '../../../bytes/index.js'
import { collectingReport, failWith, ioCodes, strictReport, writeCodes } from '../../../errors/index.js'
import {
  bytesPayload,
  defaultLimits,
  type FileLayout,
  type Model,
  type Slot,
  type WriteOptions,
} from '../../../model/index.js'
import { type MessageSpec, ProtobufReader } from '../../../wire/protobuf/protobuf.js'
import { ownCodes as codes } from '../codes.js'
import type { TensorPlace } from '../graph/names.js'
import { entryMessage, graphMessage, modelMessage, opsetMessage } from '../messages.js'
import { readModel } from '../read.js'
import type { ExternalData } from '../tensors/external.js'
import { mainGraph } from '../words.js'
import { FieldEdits } from './fields.js'
import { type NamesByGraph, type NewDataByPlace, nameKey, Renamer } from './rename.js'
import { type FieldPlace, placeOf, Splices } from './splices.js'

export async function editFile(model: Model, edited: Model, { name, signal }: WriteOptions): Promise<FileLayout> {
  return { name, slots: await editedSlots(model, edited, new Map(), signal) }
}

/** The file with other metadata, other names of tensors, and other data. */
export async function editedSlots(
  model: Model,
  edited: Model,
  data: NewDataByPlace,
  signal: AbortSignal | undefined,
): Promise<Slot[]> {
  const source = model.files[0]!
  const reader = new ProtobufReader(source, strictReport(source.name), { signal })
  const splices = new Splices()
  const fields = new FieldEdits(model.metadata, edited.metadata, source.name)
  const names = await newNames(model, edited, signal)
  const renamer = names.size > 0 || data.size > 0 ? new Renamer(reader, splices, names, data) : undefined
  let training = 0

  await reader.walk({ start: 0, end: source.size }, '', modelMessage, async () => {
    const place = placeOf(reader)
    if (place.field === 7) await editGraph(place)
    else if (place.field === 8) replace(place, fields.opset(await textIn(place, opsetMessage)))
    else if (place.field === 14) replace(place, fields.entry(await textIn(place, entryMessage)))
    else if (place.field === 20) await renamer?.training(place, `training_info[${training++}]`)
    else replace(place, fields.field('model', place.field))
    return true
  })
  splices.replace(source.size, source.size, fields.addedTo('model'))
  renamer?.checkNames(source.name)
  return splices.slots(source, signal)

  function replace(place: FieldPlace, bytes: Uint8Array | undefined): void {
    if (bytes) splices.replaceField(place, bytes)
  }

  /** The first text of a pair: the domain of an operator set, the key of a property. */
  async function textIn(place: FieldPlace, spec: MessageSpec): Promise<string> {
    let text = ''
    await reader.walk(place, '', spec, () => {
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
      await reader.walk(place, '', graphMessage, () => {
        replace(placeOf(reader), fields.field('graph', reader.field))
        return true
      })
      await renamer?.inGraph(place, mainGraph)
      splices.replace(place.end, place.end, fields.addedTo('graph'))
    })
  }
}

/** For each graph the names that change. Tensors of one name in one graph are one to everything that refers to them. */
async function newNames(model: Model, edited: Model, signal: AbortSignal | undefined): Promise<NamesByGraph> {
  const byGraph = new Map<string, Map<string, string>>()
  const file = model.files[0]!.name
  const taken = new Set<string>()
  for (const { name } of edited.tensors) {
    if (taken.has(name)) {
      const message = `two tensors would be called ${JSON.stringify(name)}`
      failWith(writeCodes['duplicate-name'], { file, path: name, message })
    }
    taken.add(name)
  }
  if (model.tensors.every(({ name }, i) => name === edited.tensors[i]!.name)) return byGraph
  for (const [i, { scope, name }] of (await placesIn(model, signal)).places.entries()) {
    const to = edited.tensors[i]!.name
    if (to === model.tensors[i]!.name) continue
    const key = nameKey(name)
    if (key === '') failWith(codes['name-absent'], { file, path: to, message: 'the tensor has no name' })
    const path = scope.path ?? mainGraph
    const names = byGraph.get(path) ?? new Map<string, string>()
    byGraph.set(path, names.set(key, to))
  }
  return byGraph
}

/** Names do not depend on data in other files, which stay closed and are counted. */
function unopened(): ExternalData & { count: number } {
  const external = {
    files: [],
    count: 0,
    payload: async () => {
      external.count++
      return bytesPayload(new Uint8Array())
    },
  }
  return external
}

/**
 * The graph and the name of each tensor as they stand in the file, where names may repeat. They are read again: the model has only the names that
 * were made distinct. What is wrong with the file was reported when the model was read.
 */
export async function placesIn(
  model: Model,
  signal: AbortSignal | undefined,
): Promise<{ readonly places: readonly TensorPlace[]; readonly elsewhere: number }> {
  const source = model.files[0]!
  const limits = { ...defaultLimits, indexBytes: source.size }
  const report = collectingReport(source.name, [], 0)
  const external = unopened()
  const { found } = await readModel(source, { report, limits, lenient: true, signal }, external)
  if (found.places.length !== model.tensors.length) {
    const message = `it had ${model.tensors.length} tensors when it was opened, and has ${found.places.length} now`
    failWith(ioCodes.changed, { file: source.name, path: 'graph', message })
  }
  return { places: found.places, elsewhere: external.count }
}
