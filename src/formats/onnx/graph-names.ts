// The names that a graph defines: its inputs, its initializers, and what its nodes give. A graph inside a node sees the names of the graphs
// around it, except those that it defines itself.
import type { MessageSpec, ProtobufReader } from '../../wire/protobuf/protobuf.js'
import { graphMessage, nodeMessage, sparseMessage, tensorMessage, valueInfoMessage } from './messages.js'
import { nameKey } from './name-key.js'
import { type FieldPlace, placeOf } from './splices.js'

export async function namesDefinedIn(reader: ProtobufReader, graph: FieldPlace): Promise<Set<string>> {
  const names = new Set<string>()
  const take = (): false | Promise<false> => reader.withPayload((bytes) => void names.add(nameKey(bytes)))
  const collect = async ({ start, end }: FieldPlace, spec: MessageSpec, field: number): Promise<void> =>
    reader.walk(start, end, '', spec, () => {
      if (reader.field !== field) return true
      const taken = take()
      return taken === false || taken.then(() => true)
    })
  await reader.walk(graph.start, graph.end, '', graphMessage, async () => {
    const place = placeOf(reader)
    if (place.field === 1) await collect(place, nodeMessage, 2)
    else if (place.field === 5) await collect(place, tensorMessage, 8)
    else if (place.field === 11) await collect(place, valueInfoMessage, 1)
    else if (place.field === 15) await collectSparse(place)
    return true
  })
  return names

  async function collectSparse({ start, end }: FieldPlace): Promise<void> {
    await reader.walk(start, end, '', sparseMessage, async () => {
      if (reader.field === 1) await collect(placeOf(reader), tensorMessage, 8)
      return true
    })
  }
}
