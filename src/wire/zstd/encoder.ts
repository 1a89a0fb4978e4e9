// What packs zstd frames: the C library as WebAssembly, from a package that carries it inside its script. Its own calls copy every result
// element by element, at some 10 MB/s, so the memory and the functions behind them are used. This is the only file that knows them, and the
// version of the package is pinned.
import type { Zstd } from '@hpcc-js/wasm-zstd'
import { findingOf, TareError } from '../../errors/index.js'
import { zstdCodes } from './codes.js'

/** The parts of the package that are used here. */
interface Inside {
  readonly _zstdClass: StreamClass
  readonly _mainModule: { readonly _module: Memory }
}

interface Memory {
  /** Another array each time the memory grows. */
  readonly HEAPU8: Uint8Array
  _malloc(size: number): number
  _free(pointer: number): void
}

interface StreamClass {
  new (): Stream
  compress(to: number, room: number, from: number, size: number, level: number): number
  compressBound(size: number): number
  CStreamOutSize(): number
  isError(result: number): boolean
  getErrorName(result: number): string
}

interface Stream {
  setCompressionLevel(level: number): void
  compressChunk(to: number, room: number, from: number, size: number): number
  compressEnd(to: number, room: number): number
  delete(): void
}

let loaded: Promise<Inside> | undefined

async function load(): Promise<Inside> {
  loaded ??= import('@hpcc-js/wasm-zstd').then(async (module) => (await module.Zstd.load()) as Zstd & Inside)
  try {
    return await loaded
  } catch (cause) {
    loaded = undefined
    const message = `the encoder cannot be started: ${(cause as Error).message}`
    throw new TareError(findingOf(zstdCodes.unavailable, { message }, 'zstd'), { cause })
  }
}

export const defaultZstdLevel = 6

/** One frame with its content size in the header, without a checksum. */
export async function encodeZstd(bytes: Uint8Array, level = defaultZstdLevel): Promise<Uint8Array> {
  const { _zstdClass: zstd, _mainModule: main } = await load()
  const room = zstd.compressBound(bytes.byteLength)
  return withMemory(main._module, bytes.byteLength, room, (memory, from, to) => {
    memory.HEAPU8.set(bytes, from)
    return taken(zstd, memory, to, zstd.compress(to, room, from, bytes.byteLength, level))
  })
}

/** The most that is packed in one call. */
const pieceBytes = 1 << 20

/**
 * One frame over all bytes of a stream, in pieces as they are made. Its header has the content size, which some readers cannot do without,
 * so that has to be known; memory stays the same whatever the size.
 */
export async function* encodeZstdStream(
  chunks: AsyncIterable<Uint8Array>,
  size: number,
  level: number,
): AsyncGenerator<Uint8Array, void, void> {
  if (size <= pieceBytes) return yield await encodeZstd(await gathered(chunks, size), level)
  const { _zstdClass: zstd, _mainModule: main } = await load()
  const memory = main._module
  const room = zstd.compressBound(pieceBytes) + zstd.CStreamOutSize()
  const from = memory._malloc(pieceBytes)
  const to = memory._malloc(room)
  const stream = new zstd()
  try {
    stream.setCompressionLevel(level)
    let isFirst = true
    const put = (length: number): Uint8Array | undefined => {
      const piece = taken(zstd, memory, to, length)
      if (piece.byteLength === 0 || !isFirst) return piece.byteLength > 0 ? piece : undefined
      isFirst = false
      return withContentSize(piece, size)
    }
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.byteLength; at += pieceBytes) {
        const part = chunk.subarray(at, at + pieceBytes)
        memory.HEAPU8.set(part, from)
        const piece = put(stream.compressChunk(to, room, from, part.byteLength))
        if (piece) yield piece
      }
    }
    const last = put(stream.compressEnd(to, room))
    if (last) yield last
  } finally {
    stream.delete()
    memory._free(from)
    memory._free(to)
  }
}

async function gathered(chunks: AsyncIterable<Uint8Array>, size: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(size)
  let at = 0
  for await (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}

/** A stream does not know its size when it begins, so its header has none: magic, descriptor, window. Here it gets one of eight bytes. */
function withContentSize(start: Uint8Array, size: number): Uint8Array {
  const header = 6
  const bytes = new Uint8Array(start.byteLength + 8)
  bytes.set(start.subarray(0, header))
  bytes[4] = start[4]! + 0xc0
  const view = new DataView(bytes.buffer)
  view.setUint32(header, size % 2 ** 32, true)
  view.setUint32(header + 4, Math.floor(size / 2 ** 32), true)
  bytes.set(start.subarray(header), header + 8)
  return bytes
}

function withMemory<T>(
  memory: Memory,
  fromSize: number,
  toSize: number,
  use: (memory: Memory, from: number, to: number) => T,
): T {
  const from = memory._malloc(fromSize)
  const to = memory._malloc(toSize)
  try {
    return use(memory, from, to)
  } finally {
    memory._free(from)
    memory._free(to)
  }
}

/** A copy of what a call has put there. */
function taken(zstd: StreamClass, { HEAPU8 }: Memory, at: number, length: number): Uint8Array {
  if (zstd.isError(length)) throw new Error(`zstd cannot pack this: ${zstd.getErrorName(length)}`)
  return HEAPU8.slice(at, at + length)
}
