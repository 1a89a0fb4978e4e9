// Puts together what the indexes of a set say: the global one, which lists every tensor and its shard, and those of the parts, which know
// where the bytes are. When all parts were opened the two are compared; otherwise each tensor finds its place when it is first read.
import type { Model, ReadContext, Tensor } from '../../../model/index.js'
import { setCodes } from '../codes.js'
import { fileOf } from '../file.js'
import { positionOf } from '../index/position-of.js'
import type { TensorTable } from '../index/tensor-table.js'
import { differencesOf } from './compare-entries.js'
import type { OpenPart, SetParts } from './set-files.js'
import type { SetFile, SetIndex } from './set-json.js'
import { unopened } from './set-tensors.js'

export function placeSetTensors(
  index: SetIndex,
  global: Model,
  parts: SetParts,
  opened: readonly (OpenPart | undefined)[] | undefined,
  context: ReadContext,
): readonly Tensor[] {
  const { report } = context
  const partOf = mapShards(index, context)
  const { table } = fileOf(global)!
  const home = { table, partOf, parts, context }
  const tensors: Tensor[] = []
  /** Which tensors of a part the global index has named. */
  const seen = new Map<OpenPart, Uint8Array>()
  for (const part of opened ?? []) if (part) seen.set(part, new Uint8Array(part.model.tensors.length))
  const used = new Set<number>()
  for (let i = 0; i < table.count; i++) {
    const at = { file: global.files[0]!.name, offset: 0, path: `tensors[${table.entryOf(i)}]` }
    const name = table.tensors.nameAt(i)
    const number = partOf.get(table.shardIdOf(i))
    if (number === undefined) {
      const message = `${JSON.stringify(name)} is in shard ${table.shardIdOf(i)}, which no part of the set has`
      report.report(setCodes['shard-unmapped'], { ...at, message })
      context.onLost?.({ subject: 'tensor', name, reason: message })
      continue
    }
    if (!opened) {
      tensors.push(unopened(home, i))
      continue
    }
    const part = opened[number]
    const place = part && positionOf(part.model.tensors, name)
    used.add(number)
    if (part && place !== undefined) {
      seen.get(part)![place] = 1
      compareEntries(table, i, fileOf(part.model)!.table, place, context, at)
    } else if (part) complainNotInPart(name, index.parts[number]!, context, at)
    if (place === undefined && context.onLost) {
      const reason = `${JSON.stringify(index.parts[number]!.path)} is missing, cannot be read or does not hold it`
      context.onLost({ subject: 'tensor', name, length: table.lengths[i]!, reason })
      continue
    }
    tensors.push(place === undefined ? table.tensors[i]! : part!.model.tensors[place]!)
  }
  reportExtra(seen, context)
  reportRepeated(index, opened ?? [], used, context)
  return tensors
}

function mapShards(index: SetIndex, { report }: ReadContext): Map<number, number> {
  const partOf = new Map<number, number>()
  for (const [i, part] of index.parts.entries()) {
    for (const shard of part.shards) {
      if (partOf.has(shard)) {
        const message = `shard ${shard} is claimed by parts ${partOf.get(shard)} and ${i}`
        report.report(setCodes['shard-twice'], { offset: 0, path: `${part.where}.shards`, message })
      } else partOf.set(shard, i)
    }
  }
  return partOf
}

interface At {
  readonly file: string
  readonly offset: number
  readonly path: string
}

function complainNotInPart(name: string, part: SetFile, { report }: ReadContext, at: At): void {
  const message = `${JSON.stringify(name)} should be in ${JSON.stringify(part.path)}, which does not list it`
  report.report(setCodes['tensor-not-in-part'], { ...at, message })
}

/** What the global index says about a tensor must be what its part says. */
function compareEntries(
  global: TensorTable,
  i: number,
  part: TensorTable,
  k: number,
  { report }: ReadContext,
  at: At,
): void {
  const differences = differencesOf(global, i, part, k)
  if (differences.length === 0) return
  const message = `${JSON.stringify(global.tensors.at(i)!.name)} is described differently: ${differences.join(', ')}`
  report.report(setCodes['index-disagrees'], { ...at, message })
}

function reportExtra(seen: ReadonlyMap<OpenPart, Uint8Array>, { report }: ReadContext): void {
  for (const [part, named] of seen) {
    for (let k = named.indexOf(0); k >= 0; k = named.indexOf(0, k + 1)) {
      const { name } = part.model.tensors.at(k)!
      const { path, where } = part.stated[0]!
      const message = `${JSON.stringify(path)} holds ${JSON.stringify(name)}, which the global index does not place there`
      report.report(setCodes['tensor-extra'], { offset: 0, path: where, message })
    }
  }
}

/** An entry that names a file again, and has no tensor of its own there. */
function reportRepeated(
  index: SetIndex,
  opened: readonly (OpenPart | undefined)[],
  used: ReadonlySet<number>,
  { report }: ReadContext,
): void {
  for (const [i, { path, where }] of index.parts.entries()) {
    const first = opened[i]?.stated[0]
    if (!first || first === index.parts[i] || used.has(i)) continue
    const message = `${JSON.stringify(path)} is listed in ${first.where} already, and the global index places nothing here`
    report.report(setCodes['tensor-extra'], { offset: 0, path: where, message })
  }
}
