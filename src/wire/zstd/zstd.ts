// Zstandard for metadata chunks. The libraries that decode it cut short silently and take memory on the word of the file, so the frame
// is walked here first: its header tells the content size, its blocks tell where it ends and how much they can unfold to at most.
//
// A frame is: magic, a descriptor byte, then (each present or not, by the descriptor) window, dictionary id and content size; blocks
// with a 3-byte header each (last block? · type · size); and four bytes of checksum if the descriptor says so.

export interface ZstdFrame {
  /** Absent when the writer did not know it; then only decoding tells. */
  readonly contentSize: number | undefined
  readonly windowSize: number
  readonly hasChecksum: boolean
  readonly dictionaryId: number
  /** Bytes of the whole frame; what follows is not part of it. */
  readonly byteLength: number
  /** What the blocks can unfold to at most. */
  readonly maxContent: number
}

/** Why bytes are not the one frame that they should be, or why that cannot be told here. */
export interface ZstdFault {
  readonly fault: 'corrupt' | 'size' | 'trailing' | 'unavailable'
  /** Index of the byte that shows it. */
  readonly at: number
  readonly message: string
}

export const isZstdFault = (value: object): value is ZstdFault => 'fault' in value

const magic = 0xfd2fb528
const maxBlock = 128 * 1024
/** What the decoder's memory can hold, input and output together. */
const maxMemory = 1.75 * 2 ** 30

const corrupt = (at: number, message: string): ZstdFault => ({ fault: 'corrupt', at, message })

/** What the header of a frame says, and how long it is. */
export interface ZstdHeader extends Pick<ZstdFrame, 'contentSize' | 'windowSize' | 'hasChecksum' | 'dictionaryId'> {
  readonly byteLength: number
}

/** The bytes that a header has at most. */
export const maxZstdHeader = 18

/** Reads the header at the start of a frame; what follows may be missing. */
export function parseZstdHeader(bytes: Uint8Array): ZstdHeader | ZstdFault {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.byteLength < 5 || view.getUint32(0, true) !== magic) return corrupt(0, 'this is not a zstd frame')
  const descriptor = bytes[4]!
  const isSingle = Math.floor(descriptor / 32) % 2 === 1
  const sizeCode = Math.floor(descriptor / 64)
  const sizeBytes = sizeCode === 0 ? (isSingle ? 1 : 0) : 2 ** sizeCode
  const dictionaryBytes = [0, 1, 2, 4][descriptor % 4]!
  const hasChecksum = Math.floor(descriptor / 4) % 2 === 1
  if (Math.floor(descriptor / 8) % 2 === 1) return corrupt(4, 'a reserved bit of the frame header is set')
  let at = 5
  if (bytes.byteLength < at + (isSingle ? 0 : 1) + dictionaryBytes + sizeBytes)
    return corrupt(4, 'the frame header is cut')
  let windowSize = 0
  if (!isSingle) {
    const base = 2 ** (10 + Math.floor(bytes[at]! / 8))
    windowSize = base + (base / 8) * (bytes[at]! % 8)
    at += 1
  }
  const dictionaryId = littleEndian(bytes, at, dictionaryBytes)
  at += dictionaryBytes
  const contentSize = sizeBytes === 0 ? undefined : littleEndian(bytes, at, sizeBytes) + (sizeBytes === 2 ? 256 : 0)
  at += sizeBytes
  if (isSingle) windowSize = contentSize!
  return { contentSize, windowSize, hasChecksum, dictionaryId, byteLength: at }
}

/** Walks one frame without decoding it. */
export function parseZstdFrame(bytes: Uint8Array): ZstdFrame | ZstdFault {
  const header = parseZstdHeader(bytes)
  if ('fault' in header) return header
  const blocks = walkBlocks(bytes, header.byteLength)
  if ('fault' in blocks) return blocks
  const byteLength = blocks.end + (header.hasChecksum ? 4 : 0)
  if (byteLength > bytes.byteLength) return corrupt(blocks.end, 'the checksum of the frame is cut')
  return { ...header, byteLength, maxContent: blocks.maxContent }
}

/** The three bytes before a block. */
export interface ZstdBlock {
  readonly isLast: boolean
  /** Bytes that follow the header. */
  readonly byteLength: number
  /** What it unfolds to at most. */
  readonly maxContent: number
}

export function parseZstdBlock(bytes: Uint8Array, at: number): ZstdBlock | ZstdFault {
  const header = littleEndian(bytes, at, 3)
  const size = Math.floor(header / 8)
  const type = Math.floor(header / 2) % 4
  if (type === 3) return corrupt(at, 'a block has the reserved type')
  if (size > maxBlock) return corrupt(at, `a block of ${size} bytes is larger than any may be`)
  return {
    isLast: header % 2 === 1,
    byteLength: type === 1 ? 1 : size,
    maxContent: type === 2 ? maxBlock : size,
  }
}

function walkBlocks(bytes: Uint8Array, start: number): { end: number; maxContent: number } | ZstdFault {
  let maxContent = 0
  for (let at = start; ; ) {
    if (at + 3 > bytes.byteLength) return corrupt(at, 'the frame ends before its last block')
    const block = parseZstdBlock(bytes, at)
    if ('fault' in block) return block
    const next = at + 3 + block.byteLength
    if (next > bytes.byteLength) return corrupt(at, 'a block runs past the end')
    maxContent += block.maxContent
    if (block.isLast) return { end: next, maxContent }
    at = next
  }
}

function littleEndian(bytes: Uint8Array, at: number, length: number): number {
  let value = 0
  for (let i = length - 1; i >= 0; i--) value = value * 256 + bytes[at + i]!
  return value
}

/**
 * Decodes bytes that are one frame and nothing else, and unfold to exactly `size` bytes. Nothing is allocated before the frame's own
 * words agree with that size.
 */
export async function decodeZstd(bytes: Uint8Array, size: number): Promise<Uint8Array | ZstdFault> {
  const frame = parseZstdFrame(bytes)
  if (isZstdFault(frame)) return frame
  const { contentSize, byteLength, maxContent } = frame
  if (contentSize !== undefined && contentSize !== size) {
    return { fault: 'size', at: 4, message: `the frame holds ${contentSize} bytes, ${size} are declared` }
  }
  if (byteLength < bytes.byteLength) {
    const message = `${bytes.byteLength - byteLength} bytes follow the zstd frame`
    return { fault: 'trailing', at: byteLength, message }
  }
  if (size > maxContent) {
    return { fault: 'size', at: 4, message: `the frame unfolds to ${maxContent} bytes at most, ${size} are declared` }
  }
  if (frame.dictionaryId !== 0) return corrupt(4, `the frame wants dictionary ${frame.dictionaryId}, and there is none`)
  if (size + bytes.byteLength > maxMemory) return corrupt(0, `${size} bytes are more than can be decoded in memory`)
  return size === 0 ? decodeEmpty(maxContent) : decode(bytes, size)
}

/** The decoder takes a size of zero for "unknown"; a frame without content needs no decoder. */
function decodeEmpty(maxContent: number): Uint8Array | ZstdFault {
  if (maxContent === 0) return new Uint8Array(0)
  return { fault: 'size', at: 4, message: 'the frame has content, and none is declared' }
}

async function decode(bytes: Uint8Array, size: number): Promise<Uint8Array | ZstdFault> {
  let decoder: ZstdDecoder
  try {
    decoder = await zstdDecoder()
  } catch (error) {
    return { fault: 'unavailable', at: 0, message: `the decoder cannot be started: ${(error as Error).message}` }
  }
  let content: Uint8Array
  try {
    content = decoder(bytes, size)
  } catch (error) {
    return corrupt(0, `the zstd data cannot be decoded: ${(error as Error).message}`)
  }
  if (content.byteLength === size) return content
  // The library answers an error, also "the target is too small", with nothing.
  if (content.byteLength === 0) return corrupt(0, `the zstd data is damaged, or unfolds to more than ${size} bytes`)
  return { fault: 'size', at: 4, message: `the frame holds ${content.byteLength} bytes, ${size} are declared` }
}

// What decodes a zstd frame: the environment, where it can, or a WASM package.

/** The content of one frame, which has been walked before. Throws, or gives fewer bytes, when it is damaged or does not fit. */
export type ZstdDecoder = (frame: Uint8Array, size: number) => Uint8Array

let registered: ZstdDecoder | undefined

/** Makes everything in this process decode with `decoder`; undefined: with the package again. */
export function registerZstdDecoder(decoder: ZstdDecoder | undefined): void {
  registered = decoder
}

export async function zstdDecoder(): Promise<ZstdDecoder> {
  if (registered) return registered
  const { ZSTDDecoder } = await import('zstddec')
  const decoder = new ZSTDDecoder()
  await awake(() => withoutFetch(() => decoder.init()))
  return (frame, size) => decoder.decode(frame, size)
}

/**
 * The package takes its own WASM out of a data address with `fetch` where there is one, and Node would load a whole HTTP client for that,
 * some 30 ms. Without `fetch` it decodes the text itself. It looks once, before anything else can run, so no other code misses it.
 */
function withoutFetch<T>(start: () => T): T {
  const isNode = (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node !== undefined
  const own = Object.getOwnPropertyDescriptor(globalThis, 'fetch')
  if (!isNode || !own?.configurable) return start()
  Object.defineProperty(globalThis, 'fetch', { value: undefined, configurable: true })
  try {
    return start()
  } finally {
    Object.defineProperty(globalThis, 'fetch', own)
  }
}

/**
 * While WASM is compiled, Node may find nothing else to wait for. It then goes on with the code that waits for the WASM, but does not come back to
 * its loop before all compiling is over, that of hot functions included: 70 ms in which files could be read. A timer is something to wait for.
 */
async function awake<T>(start: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => {}, 60_000)
  try {
    return await start()
  } finally {
    clearTimeout(timer)
  }
}
