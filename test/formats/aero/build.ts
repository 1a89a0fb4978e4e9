// Files put together byte by byte, independently of the writer, so that each can be wrong in one way.
import { encode } from '@msgpack/msgpack'
import { digestOf, MemorySource, type VerifyResult, verifySource } from '../../../src/kit.js'

export interface TestChunk {
  readonly fourcc: string
  readonly name: string
  readonly flags?: number
  /** Stored bytes; the content too, unless `content` is given. */
  readonly bytes: Uint8Array
  readonly content?: Uint8Array
  readonly hash?: Uint8Array
  readonly offset?: number
  readonly ulen?: number
}

const align = (offset: number, to: number): number => Math.ceil(offset / to) * to

export async function aeroBytes(chunks: readonly TestChunk[]): Promise<Uint8Array> {
  const names = new TextEncoder().encode(chunks.map(({ name }) => `${name}\0`).join(''))
  const strings = 96 + 16 + 80 * chunks.length
  const stringsLength = align(names.byteLength, 8)
  const offsets: number[] = []
  let end = align(strings + stringsLength, 16)
  for (const chunk of chunks) {
    const offset = chunk.offset ?? align(end, 16)
    offsets.push(offset)
    end = Math.max(end, offset + chunk.bytes.byteLength)
  }
  const file = new Uint8Array(end)
  const view = new DataView(file.buffer)
  file.set([0x41, 0x45, 0x52, 0x4f, 0, 0, 1, 0, 96, 0, 0, 0])
  view.setBigUint64(12, 96n, true)
  view.setBigUint64(20, BigInt(16 + 80 * chunks.length), true)
  view.setBigUint64(28, BigInt(strings), true)
  view.setBigUint64(36, BigInt(stringsLength), true)
  view.setUint32(96, chunks.length, true)
  file.set(names, strings)
  let nameOffset = 0
  for (const [i, chunk] of chunks.entries()) {
    const at = 112 + 80 * i
    const content = chunk.content ?? chunk.bytes
    const nameLength = new TextEncoder().encode(chunk.name).byteLength
    file.set(
      [...chunk.fourcc].map((letter) => letter.charCodeAt(0)),
      at,
    )
    view.setUint32(at + 4, chunk.flags ?? 0, true)
    view.setBigUint64(at + 8, BigInt(offsets[i]!), true)
    view.setBigUint64(at + 16, BigInt(chunk.bytes.byteLength), true)
    view.setBigUint64(at + 24, BigInt(chunk.ulen ?? content.byteLength), true)
    view.setUint32(at + 32, nameOffset, true)
    view.setUint32(at + 36, nameLength, true)
    file.set(chunk.hash ?? (await digestOf('blake3', content)), at + 48)
    file.set(chunk.bytes, offsets[i]!)
    nameOffset += nameLength + 1
  }
  return file
}

export const entry = (name: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  name,
  dtype: 5,
  shape: [4],
  shard_id: 0,
  data_off: 0,
  data_len: 4,
  flags: 0,
  ...more,
})

export const index = (...tensors: unknown[]): TestChunk => indexOf({ tensors })
export const indexOf = (root: unknown): TestChunk => ({
  fourcc: 'TIDX',
  name: 'tensors',
  flags: 4,
  bytes: encode(root),
})
export const weights = (length = 8, name = 'weights.shard0'): TestChunk => ({
  fourcc: 'WTSH',
  name,
  flags: 2,
  bytes: Uint8Array.from({ length }, (_, i) => i + 1),
})
export const pages = (value: unknown, name = 'weights.shard0.phsh'): TestChunk => ({
  fourcc: 'PHSH',
  name,
  flags: 8,
  bytes: encode(value),
})

export async function verifyBytes(bytes: Uint8Array, name = 'test.aero'): Promise<VerifyResult> {
  return verifySource(new MemorySource(bytes, name))
}

export const verifyChunks = async (...chunks: TestChunk[]): Promise<VerifyResult> =>
  verifyBytes(await aeroBytes(chunks))

export const codesOf = ({ findings }: VerifyResult): string[] => findings.map(({ code }) => code)
