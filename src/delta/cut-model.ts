// The files of a model, cut into the bytes of its tensors and the rest: headers, padding, companion files. The rest of all files, one after
// another, is the frame of the model. Tensors that are no range of a file of their own (packed, shared with another, without a unique name) stay in the
// frame, so that every byte of every file is in exactly one place.
import { type ByteSource, gaps, inOrder, type Range } from '../bytes/index.js'
import { lowerBound } from '../bytes/lower-bound.js'
import type { Model, Payload, Tensor } from '../model/index.js'

/** The bytes of a tensor in a file. */
export interface Cut extends Range {
  readonly tensor: Tensor
}

export interface CutFile {
  readonly source: ByteSource
  /** In file order, apart from each other. */
  readonly cuts: readonly Cut[]
}

export interface CutModel {
  readonly files: readonly CutFile[]
  readonly frame: Frame
  /** The tensors that were cut out, by name. */
  readonly tensors: ReadonlyMap<string, Tensor>
}

export function cutModel(model: Model): CutModel {
  const seen = new Map<string, number>()
  for (const { name } of model.tensors) seen.set(name, (seen.get(name) ?? 0) + 1)
  const byFile = new Map<string, Cut[]>(model.files.map(({ name }) => [name, []]))
  for (const tensor of model.tensors) {
    const origin = tensor.data?.origin
    if (!origin || origin.length === 0 || seen.get(tensor.name) !== 1) continue
    byFile.get(origin.source.name)?.push({ start: origin.offset, end: origin.offset + origin.length, tensor })
  }
  const files = model.files.map((source) => ({ source, cuts: apart(byFile.get(source.name)!) }))
  const tensors = new Map(files.flatMap(({ cuts }) => cuts.map(({ tensor }) => [tensor.name, tensor] as const)))
  return { files, frame: new Frame(files), tensors }
}

/** Of ranges that overlap, the first counts. */
function apart(cuts: readonly Cut[]): Cut[] {
  const kept: Cut[] = []
  let reached = 0
  for (const cut of inOrder(cuts)) {
    if (cut.start < reached) continue
    kept.push(cut)
    reached = cut.end
  }
  return kept
}

/** The bytes of all files that belong to no cut. */
export class Frame {
  readonly byteLength: number
  readonly #ranges: {
    readonly source: ByteSource
    readonly offset: number
    readonly start: number
    readonly end: number
  }[] = []

  constructor(files: readonly CutFile[]) {
    let length = 0
    for (const { source, cuts } of files)
      for (const { start, end } of gaps(cuts, 0, source.size)) {
        this.#ranges.push({ source, offset: start, start: length, end: length + end - start })
        length += end - start
      }
    this.byteLength = length
  }

  async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    const bytes = new Uint8Array(length)
    const ranges = this.#ranges
    for (let done = 0, i = lowerBound(ranges.length, (k) => ranges[k]!.end, offset + 1); done < length; i++) {
      const { source, offset: from, start, end } = ranges[i]!
      const at = offset + done
      const count = Math.min(end - at, length - done)
      bytes.set(await source.read(from + at - start, count, { signal }), done)
      done += count
    }
    return bytes
  }
}

/** A range of what can be read in any order, as a payload. */
export function sliceOf(
  whole: { read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> },
  offset: number,
  byteLength: number,
): Payload {
  return {
    byteLength,
    read: (at, count, signal) => whole.read(offset + at, count, signal),
    async *chunks(window, signal) {
      for (let at = 0; at < byteLength; at += window)
        yield await whole.read(offset + at, Math.min(window, byteLength - at), signal)
    },
  }
}
