// MXFP4 experts as gpt-oss publishes them: scales and codes in two tensors. See `to-gguf/mxfp4` for the two ways of storing a block.
import { u8 } from '../../dtypes/index.js'
import { lazyPayload, type Payload, type Tensor } from '../../model/index.js'
import { interleaved } from '../interleaved.js'
import { refuseShape } from '../views.js'

const codeBytes = 16
const blockBytes = codeBytes + 1
const blockElements = 32

/** Rows of several tensors are taken in turns. The names are made from `name`. */
export function unpacked(name: string, parts: readonly [Tensor, ...Tensor[]]): readonly [Tensor, Tensor] {
  const [first] = parts
  const [experts = 0, rows = 0, columns = 0] = first.shape
  for (const part of parts) {
    const isSame = part.shape.length === 3 && part.shape.every((size, i) => size === first.shape[i])
    if (!isSame || part.dtype !== first.dtype) refuseShape(part, `${first.name} has [${first.shape.join(', ')}]`)
  }
  const perRow = columns / blockElements
  const run = perRow * blockBytes
  const blocks =
    parts.length === 1
      ? first.data!
      : interleaved(
          parts.map(({ data }) => data!),
          parts.map(() => run),
        )
  const shape = [experts, rows * parts.length, perRow]
  const as = (suffix: string, shape: readonly number[], data: Payload): Tensor => ({
    name: `${name}_${suffix}`,
    dtype: u8,
    shape,
    order: 'row',
    role: 'weight',
    data,
  })
  return [
    as('blocks', [...shape, codeBytes], taken(blocks, codeBytes, putCodes)),
    as('scales', shape, taken(blocks, 1, putScale)),
  ]
}

type Put = (source: Uint8Array, from: number, target: Uint8Array, to: number) => void

/** `size` bytes of each block. */
function taken(blocks: Payload, size: number, put: Put): Payload {
  const count = blocks.byteLength / blockBytes
  return lazyPayload(count * size, async function* (signal) {
    for await (const some of blocks.chunks(pieceBlocks * blockBytes, signal)) {
      const there = some.byteLength / blockBytes
      const piece = new Uint8Array(there * size)
      for (let block = 0; block < there; block++) put(some, block * blockBytes, piece, block * size)
      yield piece
    }
  })
}

const pieceBlocks = 1 << 14

function putScale(source: Uint8Array, from: number, target: Uint8Array, to: number): void {
  target[to] = source[from]!
}

/** Bytes with element j low and j + 16 high become bytes with neighbours, the first of them low. */
function putCodes(source: Uint8Array, from: number, target: Uint8Array, to: number): void {
  const codes = from + 1
  for (let i = 0; i < 8; i++) {
    const [even, odd] = [source[codes + 2 * i]!, source[codes + 2 * i + 1]!]
    target[to + i] = (even & 15) | ((odd & 15) << 4)
    target[to + 8 + i] = (even >> 4) | (odd & 0xf0)
  }
}
