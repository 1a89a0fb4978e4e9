// Puts together what the indexes of a set say: the global one lists every tensor and its shard, those of the parts know where the bytes
// are. When all parts were opened the two are compared; otherwise each tensor finds its place when it is first read.
import { type ByteRange, checkRange } from '../../../bytes/index.js'
import type { Payload, ReadContext, Tensor } from '../../../model/index.js'
import { setCodes } from '../codes.js'
import type { OpenFile, TensorEntry } from '../file.js'
import { dataLengthOf } from '../index/place-tensors.js'
import { differencesOf, type OpenPart, type SetParts } from './set-files.js'
import type { SetFile, SetIndex } from './set-json.js'

export function placeSetTensors(
  index: SetIndex,
  global: OpenFile,
  parts: SetParts,
  opened: readonly (OpenPart | undefined)[] | undefined,
  context: ReadContext,
): readonly Tensor[] {
  const { report } = context
  reportShardsTwice(index, context)
  const tensors: Tensor[] = []
  /** What the global index has named. */
  const named = new Set<TensorEntry>()
  const usedParts = new Set<number>()
  for (const entry of global.file.entries) {
    const { name } = entry.tensor
    const at = { file: global.file.source.name, offset: 0, path: `tensors[${entry.index}]` }
    const number = index.partOf.get(entry.shardId)
    if (number === undefined) {
      const message = `${JSON.stringify(name)} is in shard ${entry.shardId}, which no part of the set has`
      report.report(setCodes['shard-unmapped'], { ...at, message })
      context.onLost?.({ subject: 'tensor', name, reason: message })
      continue
    }
    if (!opened) {
      tensors.push({ ...entry.tensor, data: new PartPayload(entry, number, parts, context) })
      continue
    }
    const part = opened[number]
    const { path } = index.parts[number]!
    const own = part?.file.entryOf(name)
    usedParts.add(number)
    if (own) {
      named.add(own)
      compareEntries(entry, own, context, at)
    } else if (part) {
      const message = `${JSON.stringify(name)} should be in ${JSON.stringify(path)}, which does not list it`
      report.report(setCodes['tensor-not-in-part'], { ...at, message })
    }
    if (!own && context.onLost) {
      const reason = `${JSON.stringify(path)} is missing, cannot be read or does not hold it`
      context.onLost({ subject: 'tensor', name, length: entry.end - entry.start, reason })
      continue
    }
    tensors.push(own?.tensor ?? entry.tensor)
  }
  reportExtra(new Set(opened ?? []), named, context)
  reportRepeated(index, opened ?? [], usedParts, context)
  return tensors
}

function reportShardsTwice({ parts, partOf }: SetIndex, { report }: ReadContext): void {
  const seen = new Set<number>()
  for (const [i, part] of parts.entries()) {
    for (const shard of part.shards) {
      if (seen.has(shard)) {
        const message = `shard ${shard} is claimed by parts ${partOf.get(shard)} and ${i}`
        report.report(setCodes['shard-twice'], { offset: 0, path: `${part.where}.shards`, message })
      } else seen.add(shard)
    }
  }
}

/** What the global index says about a tensor must be what its part says. */
function compareEntries(
  global: TensorEntry,
  part: TensorEntry,
  { report }: ReadContext,
  at: { readonly file: string; readonly offset: number; readonly path: string },
): void {
  const differences = differencesOf(global, part)
  if (differences.length === 0) return
  const message = `${JSON.stringify(global.tensor.name)} is described differently: ${differences.join(', ')}`
  report.report(setCodes['index-disagrees'], { ...at, message })
}

function reportExtra(
  parts: ReadonlySet<OpenPart | undefined>,
  named: ReadonlySet<TensorEntry>,
  { report }: ReadContext,
): void {
  for (const part of parts) {
    for (const entry of part?.file.entries ?? []) {
      if (named.has(entry)) continue
      const { path, where } = part!.stated[0]!
      const message = `${JSON.stringify(path)} holds ${JSON.stringify(entry.tensor.name)}, which the global index does not place there`
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
  for (const [i, part] of index.parts.entries()) {
    const first: SetFile | undefined = opened[i]?.stated[0]
    if (!first || first === part || used.has(i)) continue
    const message = `${JSON.stringify(part.path)} is listed in ${first.where} already, and the global index places nothing here`
    report.report(setCodes['tensor-extra'], { offset: 0, path: part.where, message })
  }
}

/** The bytes of a tensor in a part that is opened on the first read. */
class PartPayload implements Payload {
  readonly byteLength: number
  readonly #name: string
  /** The position of the part in the set. */
  readonly #part: number
  readonly #parts: SetParts
  readonly #context: ReadContext
  #found: Payload | undefined

  constructor(entry: TensorEntry, part: number, parts: SetParts, context: ReadContext) {
    this.byteLength = dataLengthOf(entry)
    this.#name = entry.tensor.name
    this.#part = part
    this.#parts = parts
    this.#context = context
  }

  get origin(): ByteRange | undefined {
    return this.#found?.origin
  }

  async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    checkRange({ name: this.#name, size: this.byteLength }, offset, length)
    if (length === 0) return new Uint8Array(0)
    return (await this.#find()).read!(offset, length, signal)
  }

  async *chunks(window: number, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    if (this.byteLength > 0) yield* (await this.#find()).chunks(window, signal)
  }

  async #find(): Promise<Payload> {
    if (this.#found) return this.#found
    const { file } = await this.#parts.open(this.#part)
    const data = file.entryOf(this.#name)?.tensor.data
    if (!data || data.byteLength !== this.byteLength) {
      const { report } = this.#context
      const message = `part ${this.#part} of the set does not hold ${JSON.stringify(this.#name)} with ${this.byteLength} bytes`
      const at = { file: report.file, offset: 0, path: this.#name }
      return report.fail(setCodes['tensor-not-in-part'], { ...at, message })
    }
    this.#found = data
    return data
  }
}
