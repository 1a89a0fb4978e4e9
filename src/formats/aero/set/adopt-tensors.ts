// The tensors of a part that has no index of its own. The global index of the set lists them with the number of their shard and their place
// in it; the shard is the chunk of that number or, in parts that count from 0 again, the one at the same place in the set's list.
import { type ByteSource, checkedAdd } from '../../../bytes/index.js'
import { type ReadContext, rangePayload } from '../../../model/index.js'
import { codes, setCodes } from '../codes.js'
import { type Chunk, describeChunk } from '../control/chunk.js'
import type { Control } from '../control/control.js'
import { shardsOf } from '../file.js'
import { TensorTable } from '../index/tensor-table.js'
import { shardName } from '../structs.js'

export interface Adoption {
  /** The tensors of the whole set. */
  readonly global: TensorTable
  /** The numbers of the shards in this part, counted over the whole set. */
  readonly shards: readonly number[]
}

export function adoptTensors(
  { global, shards }: Adoption,
  control: Control,
  source: ByteSource,
  { report }: ReadContext,
): TensorTable {
  const message = 'the part has no TIDX chunk; its tensors are found through the global index'
  report.report(setCodes['part-no-index'], { offset: control.tocOffset, path: 'toc', message })
  const chunks = shardChunks(shards, control)
  const own = new TensorTable(global.count)
  for (let i = 0; i < global.count; i++) {
    const id = global.shardIdOf(i)
    if (!chunks.has(id)) continue
    const tensor = global.tensors.at(i)!
    const shard = chunks.get(id)
    const path = `tensors[${global.entryOf(i)}]`
    const complain = (code: (typeof codes)['tidx-bounds'], why: string): void =>
      report.report(code, { offset: 0, path, message: `${JSON.stringify(tensor.name)} ${why}` })
    const offset = global.offsets[i]!
    const end = checkedAdd(offset, global.lengths[i]!)
    if (!shard) complain(codes['tidx-shard-missing'], `is in shard ${id}, which the part does not have`)
    else if (end === undefined || end > shard.length) {
      const why = `has ${global.lengths[i]} bytes from ${offset} on, ${describeChunk(shard)} has ${shard.length}`
      complain(codes['tidx-bounds'], why)
    } else {
      const start = shard.offset + offset
      const data = rangePayload(source, start, global.dataLengthOf(i))
      own.adopt(global, i, { ...tensor, data }, shard)
    }
  }
  return own
}

/** The names count only when they fit throughout: a part with shards 1 and 2 may call them 0 and 1. */
function shardChunks(shards: readonly number[], control: Control): Map<number, Chunk | undefined> {
  const byName = shardsOf(control)
  const inOrder = [...byName.values()]
  const isGlobal = shards.every((id) => byName.has(shardName(id)))
  return new Map(shards.map((id, place) => [id, isGlobal ? byName.get(shardName(id)) : inOrder[place]]))
}
