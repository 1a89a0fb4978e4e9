// A chunk is an archive of torch.save with one tensor in it, nearly always a range of its file. Where in the archive the elements
// are is looked up when they are first read: a checkpoint can have a million chunks, and opening it reads .metadata alone.
import { strictReport } from '../../errors/index.js'
import { bytesPayload, type Payload, type ReadContext, readPayload, type Tensor } from '../../model/index.js'
import type { StoredTile, Tile } from '../../payloads/mosaic-payload.js'
import { codes } from './codes.js'
import { openItem, type PlacedItem, pathOf } from './items.js'
import type { StatedTensor } from './metadata.js'

/** How many bytes of a compressed chunk are kept in memory. */
const maxUnpacked = 1 << 26

/** A class with few fields, since a checkpoint can have a million chunks. */
export class StoredChunk implements StoredTile {
  readonly offsets: readonly number[]
  readonly sizes: readonly number[]
  readonly #item: PlacedItem
  readonly #tensor: StatedTensor
  readonly #context: ReadContext
  #payload: Payload | undefined

  constructor({ offsets, sizes }: Tile, tensor: StatedTensor, item: PlacedItem, context: ReadContext) {
    this.offsets = offsets
    this.sizes = sizes
    this.#tensor = tensor
    this.#item = item
    this.#context = context
  }

  async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    this.#payload ??= await this.#open(signal)
    return this.#payload.read!(offset, length, signal)
  }

  async #open(signal: AbortSignal | undefined): Promise<Payload> {
    const item = this.#item
    const report = strictReport(item.source.name)
    const { model } = await openItem(item, { ...this.#context, signal, onLost: undefined }, report)
    const problem = differs(model.tensors, this.#tensor, this.sizes)
    const place = { offset: item.start, length: item.length, path: pathOf(item) }
    if (problem !== undefined) report.fail(codes['chunk-tensor'], { ...place, message: problem })
    const payload = model.tensors[0]!.data!
    if (payload.read) return payload
    if (payload.byteLength > maxUnpacked) {
      const message = `it has ${payload.byteLength} bytes, ${maxUnpacked} can be unpacked`
      report.fail(codes['chunk-order'], { ...place, message })
    }
    return bytesPayload(await readPayload(payload, signal))
  }
}

/** Why these tensors are not the one that a chunk of this size is; undefined if they are. */
export function differs(
  tensors: readonly Tensor[],
  { dtype }: StatedTensor,
  sizes: readonly number[],
): string | undefined {
  const [found, ...more] = tensors
  if (!found?.data || more.length > 0) return `it holds ${tensors.length} tensors, one with data was expected`
  const isSame = found.dtype === dtype && found.shape.length === sizes.length
  if (isSame && sizes.every((dim, axis) => dim === found.shape[axis])) return undefined
  const shown = (type: string, dims: readonly number[]): string => `[${dims.join(', ')}] of ${type}`
  return `it is ${shown(found.dtype.id, found.shape)}, .metadata says ${shown(dtype.id, sizes)}`
}
