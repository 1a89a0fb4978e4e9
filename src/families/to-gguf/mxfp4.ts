// MXFP4: blocks of 32 four-bit floats with a scale. A checkpoint keeps scales and codes in two tensors, with neighbours in one byte; a block
// of ggml is the scale and 16 bytes, each with element j in the low and j + 16 in the high four bits. No value changes.
import { dtypeById } from '../../dtypes/index.js'
import { lazyPayload, type Payload, type Tensor } from '../../model/index.js'
import { narrowed, refuseShape } from '../views.js'

const mxfp4 = dtypeById('ggml.mxfp4')!
const codeBytes = 16
const blockElements = 32

/** Rows are all rows, or every other one from the first or second on. */
export function repacked(name: string, blocks: Tensor, scales: Tensor, rows?: 'even' | 'odd'): Tensor {
  const [experts = 0, count = 0, perRow = 0, bytes] = blocks.shape
  const isFit = blocks.shape.length === 4 && bytes === codeBytes && scales.shape.length === 3
  if (!isFit || scales.shape.some((length, axis) => length !== blocks.shape[axis]))
    refuseShape(
      blocks,
      `blocks of ${codeBytes} bytes and scales for them were expected; there are scales of [${scales.shape.join(', ')}]`,
    )
  if (rows && count % 2 !== 0) refuseShape(blocks, 'an even number of rows was expected')
  const take = (tensor: Tensor): Tensor => (rows ? narrowed(tensor, 1, rows === 'even' ? 0 : 1, count / 2, 2) : tensor)
  const shape = [experts, rows ? count / 2 : count, perRow * blockElements]
  return {
    name,
    dtype: mxfp4,
    shape,
    order: 'row',
    role: 'weight',
    data: joined(take(blocks).data!, take(scales).data!),
  }
}

/** How many blocks are joined at a time. */
const pieceBlocks = 1 << 14

function joined(codes: Payload, scales: Payload): Payload {
  const size = codeBytes + 1
  return lazyPayload(scales.byteLength * size, async function* (signal) {
    const wide = codes.chunks(pieceBlocks * codeBytes, signal)[Symbol.asyncIterator]()
    try {
      for await (const some of scales.chunks(pieceBlocks, signal)) {
        const { value } = await wide.next()
        const piece = new Uint8Array(some.byteLength * size)
        for (let block = 0; block < some.byteLength; block++) {
          piece[block * size] = some[block]!
          putCodes(value!, block * codeBytes, piece, block * size + 1)
        }
        yield piece
      }
    } finally {
      await wide.return?.()
    }
  })
}

/** Elements 2i and 2i + 1 are the low and high half of byte i. */
function putCodes(source: Uint8Array, from: number, target: Uint8Array, to: number): void {
  for (let j = 0; j < codeBytes; j++) {
    const low = source[from + (j >> 1)]!
    const high = source[from + 8 + (j >> 1)]!
    target[to + j] = j % 2 === 0 ? (low & 15) | ((high & 15) << 4) : (low >> 4) | (high & 0xf0)
  }
}
