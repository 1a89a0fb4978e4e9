// Reads checkpoints of Flax, as flax.serialization.to_bytes writes them: MessagePack maps in maps, with arrays as extension values.
import type { ByteSource } from '../../bytes/index.js'
import { packed } from '../../dtypes/index.js'
import { TareError } from '../../errors/index.js'
import {
  bytesPayload,
  type MetaValue,
  type Opened,
  type Payload,
  type ReadContext,
  rangePayload,
  type Tensor,
} from '../../model/index.js'
import { mosaicPayload } from '../../payloads/mosaic-payload.js'
import { memberPath } from '../../wire/json/json.js'
import type { StoredArray } from './array.js'
import { codes } from './codes.js'
import type { Leaf } from './leaf.js'
import { Walk } from './walk.js'

/** Where training keeps what its optimizer has learned. */
const stateKey = 'opt_state'

export async function read(source: ByteSource, context: ReadContext): Promise<Opened> {
  const { report, onLost, signal } = context
  const walk = new Walk(source, context)
  let isCut = false
  try {
    await walk.run()
  } catch (error) {
    if (!onLost || !(error instanceof TareError) || signal?.aborted) throw error
    isCut = true
    const { message } = error.finding
    const path = walk.stop()
    if (path.length > 0) onLost({ subject: 'tensor', name: path.join('.'), reason: message })
    onLost({ subject: 'tensor', reason: `nothing says what follows from byte ${walk.offset} on` })
  }
  const contents = new Contents(source, context)
  for (const leaf of walk.leaves) contents.add(leaf)
  const { tensors, metadata } = contents
  if (tensors.length === 0 && !isCut)
    report.report(codes['no-arrays'], { offset: 0, path: 'root', message: 'no value in it is an array' })
  return { model: { format: 'flax', metadata, tensors, parts: [], files: [source] } }
}

class Contents {
  readonly tensors: Tensor[] = []
  readonly metadata = new Map<string, MetaValue>()
  readonly #source: ByteSource
  readonly #context: ReadContext
  /** How many things have each name. */
  readonly #names = new Map<string, number>()

  constructor(source: ByteSource, context: ReadContext) {
    this.#source = source
    this.#context = context
  }

  add(leaf: Leaf): void {
    const { report, onLost } = this.#context
    const { path, at, value } = leaf
    if (value.kind === 'bad') {
      onLost?.({ subject: value.subject, name: path.join('.'), reason: value.reason })
      return
    }
    const name = this.#nameOf(leaf)
    if (value.kind === 'meta') {
      this.metadata.set(name, value.value)
      return
    }
    const first = value.kind === 'array' ? value.array : value.chunks[0]!
    const shape = value.kind === 'array' ? value.array.shape : value.shape
    const data = this.#payload(value.kind === 'array' ? [value.array] : value.chunks)
    const { dtype, typeName } = first
    if (dtype === packed)
      report.report(codes['small-type'], { offset: at, path: whereOf(path), message: `its elements are ${typeName}` })
    const role = path[0] === stateKey ? 'state' : 'weight'
    const extra = dtype === packed ? { type: typeName } : undefined
    this.tensors.push({ name, path, dtype, shape, order: 'row', role, data, ...(extra && { extra }) })
  }

  /** Keys may hold dots, so that different paths can give the same name. */
  #nameOf({ path, at }: Leaf): string {
    const name = path.join('.')
    const before = this.#names.get(name)
    if (before === undefined) {
      this.#names.set(name, 1)
      return name
    }
    let number = before
    do number++
    while (this.#names.has(`${name}~${number}`))
    this.#names.set(name, number)
    const own = `${name}~${number}`
    this.#names.set(own, 1)
    const message = `${JSON.stringify(name)} was there before; this one is shown as ${JSON.stringify(own)}`
    this.#context.report.report(codes['same-name'], { offset: at, path: whereOf(path), message })
    return own
  }

  #payload(arrays: readonly StoredArray[]): Payload {
    const stored = arrays.filter(({ length }) => length > 0)
    if (stored.length === 0) return bytesPayload(new Uint8Array())
    const source = this.#source
    if (stored.length === 1) return rangePayload(source, stored[0]!.offset, stored[0]!.length)
    let start = 0
    const tiles = stored.map(({ offset, length, itemSize }) => {
      const count = length / itemSize
      const tile = {
        offsets: [start],
        sizes: [count],
        read: (at: number, bytes: number, signal?: AbortSignal) => source.read(offset + at, bytes, { signal }),
      }
      start += count
      return tile
    })
    return mosaicPayload(source.name, [start], stored[0]!.itemSize, tiles)
  }
}

const whereOf = (path: readonly string[]): string => path.reduce(memberPath, '')
