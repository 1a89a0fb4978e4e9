// Puts together what the indexes of a set say: the global one, which lists every tensor and its shard, and those of the parts, which know
// where the bytes are. When all parts were opened the two are compared; otherwise each tensor finds its place when it is first read.
import { type ByteRange, checkRange } from '../../bytes/index.js'
import type { Model, Payload, ReadContext, Tensor } from '../../model/index.js'
import { setCodes } from './codes.js'
import { differencesOf } from './compare-entries.js'
import { fileOf } from './file.js'
import type { OpenPart, SetParts } from './set-files.js'
import type { SetFile, SetIndex } from './set-json.js'
import type { TensorTable } from './tensor-table.js'

export function placeSetTensors(
  index: SetIndex,
  global: Model,
  parts: SetParts,
  opened: readonly (OpenPart | undefined)[] | undefined,
  context: ReadContext,
): Tensor[] {
  const { report } = context
  const partOf = mapShards(index, context)
  const { table } = fileOf(global)!
  const tensors: Tensor[] = []
  const seen = new Map<OpenPart | undefined, Set<string>>()
  for (const part of opened ?? []) seen.set(part, new Set())
  const used = new Set<number>()
  for (const [i, tensor] of global.tensors.entries()) {
    const at = { file: global.files[0]!.name, offset: 0, path: `tensors[${table.entryOf(i)}]` }
    const part = partOf.get(table.shardIdOf(i))
    if (part === undefined) {
      const message = `${JSON.stringify(tensor.name)} is in shard ${table.shardIdOf(i)}, which no part of the set has`
      report.report(setCodes['shard-unmapped'], { ...at, message })
      context.onLost?.({ subject: 'tensor', name: tensor.name, reason: message })
      continue
    }
    if (!opened) {
      tensors.push({ ...tensor, data: new PartPayload(parts, part, tensor, table.dataLengthOf(i), context) })
      continue
    }
    const place = opened[part]?.byName.get(tensor.name)
    seen.get(opened[part])!.add(tensor.name)
    used.add(part)
    if (place !== undefined) compareEntries(table, i, fileOf(opened[part]!.model)!.table, place, context, at)
    else if (opened[part]) complainNotInPart(tensor, index.parts[part]!, context, at)
    if (place === undefined && context.onLost) {
      const reason = `${JSON.stringify(index.parts[part]!.path)} is missing, cannot be read or does not hold it`
      context.onLost({ subject: 'tensor', name: tensor.name, length: table.lengths[i]!, reason })
      continue
    }
    tensors.push(place === undefined ? tensor : opened[part]!.model.tensors.at(place)!)
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

function complainNotInPart(tensor: Tensor, part: SetFile, { report }: ReadContext, at: At): void {
  const message = `${JSON.stringify(tensor.name)} should be in ${JSON.stringify(part.path)}, which does not list it`
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

function reportExtra(seen: ReadonlyMap<OpenPart | undefined, ReadonlySet<string>>, { report }: ReadContext): void {
  for (const [part, names] of seen) {
    for (const { name } of part?.model.tensors ?? []) {
      if (names.has(name)) continue
      const { path, where } = part!.stated[0]!
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

/** The bytes of a tensor in a part that is opened on the first read. */
class PartPayload implements Payload {
  readonly byteLength: number
  readonly #parts: SetParts
  readonly #part: number
  readonly #tensor: Tensor
  readonly #context: ReadContext
  #resolved: Payload | undefined

  constructor(parts: SetParts, part: number, tensor: Tensor, byteLength: number, context: ReadContext) {
    this.byteLength = byteLength
    this.#parts = parts
    this.#part = part
    this.#tensor = tensor
    this.#context = context
  }

  get origin(): ByteRange | undefined {
    return this.#resolved?.origin
  }

  async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    checkRange({ name: this.#tensor.name, size: this.byteLength }, offset, length)
    if (length === 0) return new Uint8Array(0)
    return (await this.#resolve()).read!(offset, length, signal)
  }

  async *chunks(window: number, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    if (this.byteLength > 0) yield* (await this.#resolve()).chunks(window, signal)
  }

  /** The payload in the part, which opens it. */
  async #resolve(): Promise<Payload> {
    if (this.#resolved) return this.#resolved
    const part = await this.#parts.open(this.#part)
    const place = part.byName.get(this.#tensor.name)
    const own = place === undefined ? undefined : part.model.tensors.at(place)
    const at = { file: this.#context.report.file, offset: 0, path: this.#tensor.name }
    if (!own?.data || own.data.byteLength !== this.byteLength) {
      const message = `part ${this.#part} of the set does not hold ${JSON.stringify(this.#tensor.name)} with ${this.byteLength} bytes`
      return this.#context.report.fail(setCodes['tensor-not-in-part'], { ...at, message })
    }
    this.#resolved = own.data
    return own.data
  }
}
