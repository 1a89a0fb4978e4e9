// A frame that is too large for memory, block by block. The decoder is given one block at a time, so what it holds is bounded: a block
// unfolds to 128 KiB at most, and a frame that asks for a large window is refused.
import { joinBytes } from '../../bytes/index.js'
import { isZstdFault, maxZstdHeader, parseZstdBlock, parseZstdHeader, type ZstdFault } from './zstd.js'

/** The largest window that is held for a frame. No encoder asks for more unless it is told to. */
const maxWindow = 2 ** 27

/** Thrown by the stream below. */
export class ZstdStreamError extends Error {
  readonly fault: ZstdFault

  constructor(fault: ZstdFault) {
    super(fault.message)
    this.fault = fault
  }
}

const fail = (fault: ZstdFault['fault'], at: number, message: string): never => {
  throw new ZstdStreamError({ fault, at, message })
}

/**
 * The content of bytes that are one frame and nothing else, and unfold to exactly `size` bytes. A piece is valid until the next one is
 * asked for. Throws a `ZstdStreamError`.
 */
export async function* decodeZstdStream(
  packed: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array, void, void> {
  const input = new Input(packed)
  const pieces = framePieces(input, size)
  const decoder = await startDecoder()
  let done = 0
  for await (const piece of pieces) {
    const content = decoder.feed(piece, input.position)
    done += content.byteLength
    if (done > size) fail('size', 4, `the frame unfolds to more than the ${size} bytes that are declared`)
    if (content.byteLength > 0) yield content
  }
  decoder.end(input.position)
  if (done !== size) fail('size', 4, `the frame holds ${done} bytes, ${size} are declared`)
}

/** The header and each block of a frame, whose words are compared with what is declared. */
async function* framePieces(input: Input, size: number): AsyncGenerator<Uint8Array, void, void> {
  const header = parseZstdHeader(await input.peek(maxZstdHeader))
  if (isZstdFault(header)) throw new ZstdStreamError(header)
  const { contentSize, windowSize, dictionaryId, hasChecksum } = header
  if (contentSize !== undefined && contentSize !== size)
    fail('size', 4, `the frame holds ${contentSize} bytes, ${size} are declared`)
  if (dictionaryId !== 0) fail('corrupt', 4, `the frame wants dictionary ${dictionaryId}, and there is none`)
  if (windowSize > maxWindow)
    fail('corrupt', 5, `the frame wants a window of ${windowSize} bytes, more than the ${maxWindow} that are held`)
  yield await input.take(header.byteLength)
  for (let isLast = false; !isLast; ) {
    const at = input.position
    const start = await input.peek(3)
    if (start.byteLength < 3) fail('corrupt', at, 'the frame ends before its last block')
    const block = parseZstdBlock(start, 0)
    if (isZstdFault(block)) return fail(block.fault, at, block.message)
    isLast = block.isLast
    const length = 3 + block.byteLength + (isLast && hasChecksum ? 4 : 0)
    const bytes = await input.take(length)
    if (bytes.byteLength < length) fail('corrupt', at, 'a block runs past the end')
    // A block without content says nothing, and the decoder would wait for the next.
    if (block.maxContent > 0 || isLast) yield bytes
  }
  if ((await input.peek(1)).byteLength > 0) fail('trailing', input.position, 'bytes follow the zstd frame')
}

/** Bytes that are taken in other pieces than they come in. */
class Input {
  position = 0
  readonly #chunks: AsyncIterator<Uint8Array>
  #kept: Uint8Array = new Uint8Array(0)

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** The next bytes; fewer at the end. */
  async peek(length: number): Promise<Uint8Array> {
    while (this.#kept.byteLength < length) {
      const next = await this.#chunks.next()
      if (next.done) break
      // Chunks are overwritten when the next is asked for.
      this.#kept = joinBytes([this.#kept, next.value])
    }
    return this.#kept.subarray(0, length)
  }

  async take(length: number): Promise<Uint8Array> {
    const bytes = await this.peek(length)
    this.#kept = this.#kept.subarray(bytes.byteLength)
    this.position += bytes.byteLength
    return bytes
  }
}

interface StreamDecoder {
  /** The content of the header (none) or of the next block. */
  feed(piece: Uint8Array, at: number): Uint8Array
  /** Throws unless the frame is complete. */
  end(at: number): void
}

/**
 * The package pulls its input; here it is pushed. It answers once for each piece, since a block never unfolds to more than one answer can
 * hold. Damaged input it does not take, and answers with nothing for ever: it then does not ask for the next piece.
 */
async function startDecoder(): Promise<StreamDecoder> {
  const { ZSTDDecoder } = await import('zstddec/stream')
  const decoder = new ZSTDDecoder()
  await decoder.init()
  let waiting: Uint8Array | undefined
  const pulled: Iterator<Uint8Array> = {
    next() {
      if (!waiting) return { done: true, value: undefined }
      const value = waiting
      waiting = undefined
      return { done: false, value }
    },
  }
  const contents = decoder.decodeStreaming({ [Symbol.iterator]: () => pulled })
  const damaged = (at: number): never => fail('corrupt', at, 'the zstd data cannot be decoded')
  return {
    feed(piece, at) {
      waiting = piece
      const { value } = contents.next()
      return waiting || !value ? damaged(at) : value
    },
    end(at) {
      try {
        if (contents.next().done) return
      } catch {
        // it expected more
      }
      damaged(at)
    },
  }
}
