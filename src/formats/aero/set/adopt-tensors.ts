// The tensors of a part that has no index of its own. The global index of the set lists them with the number of their shard and their place
// in it; the shard is the chunk of that number or, in parts that count from 0 again, the one at the same position in the set's list.
import type { Code } from '../../../errors/index.js'
import { rangePayload } from '../../../model/index.js'
import { codes, setCodes } from '../codes.js'
import { type Chunk, describeChunk } from '../control/chunk.js'
import { type Control, shardsOf } from '../control/control.js'
import type { AeroFile, TensorEntry } from '../file.js'
import { dataLengthOf } from '../index/place-tensors.js'
import type { Adopt } from '../read.js'
import { shardName } from '../structs.js'

/** `shards`: the numbers of the shards in the part, counted over the whole set. */
export function adoptTensors(global: AeroFile, shards: readonly number[]): Adopt {
  return (control, source, { report }) => {
    const message = 'the part has no TIDX chunk; its tensors are found through the global index'
    report.report(setCodes['part-no-index'], { offset: control.tocOffset, path: 'toc', message })
    const chunks = shardChunks(shards, control)
    const entries: TensorEntry[] = []
    for (const listed of global.entries) {
      const { tensor, shardId, index, start, end } = listed
      if (!chunks.has(shardId)) continue
      const shard = chunks.get(shardId)
      const complain = (code: Code, why: string): void =>
        report.report(code, { offset: 0, path: `tensors[${index}]`, message: `${JSON.stringify(tensor.name)} ${why}` })
      if (!shard) complain(codes['tidx-shard-missing'], `is in shard ${shardId}, which the part does not have`)
      else if (end > shard.length) {
        const why = `has ${end - start} bytes from ${start} on, ${describeChunk(shard)} has ${shard.length}`
        complain(codes['tidx-bounds'], why)
      } else {
        const at = shard.offset + start
        const data = rangePayload(source, at, dataLengthOf(listed))
        entries.push({ ...listed, tensor: { ...tensor, data }, shard, start: at, end: shard.offset + end })
      }
    }
    return { entries }
  }
}

/** The names count only when all of them fit: a part with shards 1 and 2 may call them 0 and 1. */
function shardChunks(shards: readonly number[], control: Control): Map<number, Chunk | undefined> {
  const byName = shardsOf(control)
  const inOrder = [...byName.values()]
  const isGlobal = shards.every((id) => byName.has(shardName(id)))
  return new Map(shards.map((id, place) => [id, isGlobal ? byName.get(shardName(id)) : inOrder[place]]))
}
