// Converts between two containers' layouts of the same codes. ggml's Q8_0 and MCF's q8 both store 32 signed bytes and an f16 scale per
// block, and a value is code times scale. Q8_0 puts each scale before its codes; q8 puts all scales first, then, at the next multiple of
// 64, all codes. So a tensor whose rows are whole blocks converts without touching a value.
import { checkRange } from '../bytes/index.js'
import { blockLayout } from '../dtypes/mcf/layout.js'
import { methodOf } from '../dtypes/mcf/types.js'
import { blockBytes, layouts } from '../kernels/ggml/layouts.js'
import { lazyPayload, type Payload } from '../model/payload.js'

const blockSize = blockBytes(layouts.q8_0)
const codeBytes = layouts.q8_0.elements
/** Blocks per piece. */
const pieceBlocks = 8192

/** The layout of the q8 form; undefined if the shape has none, or its rows end within a block. */
function formOf(shape: readonly number[]): { blocks: number; codesOffset: number; byteLength: number } | undefined {
  const layout = blockLayout(methodOf('mcf.q8')!, shape)
  return layout && layout.columns % codeBytes === 0 ? layout : undefined
}

/** The bytes of a q8 tensor as Q8_0 blocks; undefined if that requires decoding. */
export function q8ToBlocks(payload: Payload, shape: readonly number[]): Payload | undefined {
  const form = formOf(shape)
  const read = payload.read?.bind(payload)
  if (!form || !read || payload.byteLength !== form.byteLength) return undefined
  const byteLength = form.blocks * blockSize

  async function blocksFrom(first: number, count: number, signal?: AbortSignal): Promise<Uint8Array> {
    const [scales, codes] = await Promise.all([
      read!(2 * first, 2 * count, signal),
      read!(form!.codesOffset + codeBytes * first, codeBytes * count, signal),
    ])
    const blocks = new Uint8Array(count * blockSize)
    for (let i = 0; i < count; i++) {
      // With a scale of zero q8 means zeros, whatever the codes; in Q8_0 a negative code would give minus zero.
      if (scales[2 * i] === 0 && (scales[2 * i + 1]! & 0x7f) === 0) continue
      blocks[i * blockSize] = scales[2 * i]!
      blocks[i * blockSize + 1] = scales[2 * i + 1]!
      blocks.set(codes.subarray(codeBytes * i, codeBytes * (i + 1)), i * blockSize + 2)
    }
    return blocks
  }

  async function* produce(signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    for (let first = 0; first < form!.blocks; first += pieceBlocks) {
      yield await blocksFrom(first, Math.min(pieceBlocks, form!.blocks - first), signal)
    }
  }

  return {
    ...lazyPayload(byteLength, produce),
    async read(offset, length, signal) {
      checkRange({ name: 'tensor', size: byteLength }, offset, length)
      const first = Math.floor(offset / blockSize)
      const blocks = await blocksFrom(first, Math.ceil((offset + length) / blockSize) - first, signal)
      const skip = offset - first * blockSize
      return blocks.subarray(skip, skip + length)
    },
  }
}

/**
 * The bytes of a Q8_0 tensor in the q8 form; undefined if that requires decoding. They are read twice, once for the scales and once for the
 * codes. Minus zeros under a scale of zero become zeros; nothing else changes. `onNotFinite` is told of blocks
 * whose scale is infinite or NaN, and may throw.
 */
export function blocksToQ8(
  payload: Payload,
  shape: readonly number[],
  onNotFinite: (block: number, isNan: boolean) => void,
): Payload | undefined {
  const form = formOf(shape)
  if (!form || payload.byteLength !== form.blocks * blockSize) return undefined
  const { blocks, codesOffset, byteLength } = form
  return lazyPayload(byteLength, async function* (signal?: AbortSignal) {
    let first = 0
    for await (const scales of parts(payload, 0, 2, signal)) {
      for (let i = 0; i < scales.length; i += 2) {
        const high = scales[i + 1]! & 0x7f
        if (high >= 0x7c) onNotFinite(first + i / 2, high > 0x7c || scales[i] !== 0)
      }
      first += scales.length / 2
      yield scales
    }
    yield new Uint8Array(codesOffset - 2 * blocks)
    yield* parts(payload, 2, codeBytes, signal)
  })
}

/** `length` bytes at `offset` of every block. */
async function* parts(
  payload: Payload,
  offset: number,
  length: number,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of payload.chunks(pieceBlocks * blockSize, signal)) {
    const piece = new Uint8Array((chunk.byteLength / blockSize) * length)
    for (let at = offset, to = 0; to < piece.byteLength; at += blockSize, to += length) {
      for (let i = 0; i < length; i++) piece[to + i] = chunk[at + i]!
    }
    yield piece
  }
}
