// Chunks on their way into a file: each knows its sizes, and has its hash or can compute it.
import type { ByteSource } from '../../../bytes/index.js'
import { createHasher, digestOf } from '../../../digest/index.js'
import {
  bytesPayload,
  type DerivedBytes,
  type Payload,
  rangePayload,
  type Slot,
  slotsMadeBy,
} from '../../../model/index.js'
import { encodeZstd } from '../../../wire/zstd/encoder.js'
import type { Chunk } from '../control/chunk.js'
import { encodePageTable, pageCount, pageTableSize } from '../hash/phsh.js'
import { flags, pagesName } from '../structs.js'
import { digestsIn, type ShardContent } from './shards.js'

export interface OutChunk {
  readonly fourcc: string
  readonly name: string
  readonly flags: number
  /** Stored and decompressed sizes. */
  readonly length: number
  readonly ulen: number
  readonly slots: Iterable<Slot>
  /** Undefined: the chunk is not compressed, and the hash is that of its bytes. */
  readonly hash: Uint8Array | undefined
  /** The hash is computed while the chunk is written. */
  readonly isHashedInPassing?: true
  /** The hash, even if everything must be read for it. */
  computeHash(signal?: AbortSignal): Promise<Uint8Array>
  /** The shard that the chunk is. */
  readonly shard?: ShardContent
  /** How the content follows from the hashes of shards, which begin at these offsets. */
  derive?(offsetOf: (shard: ShardContent) => number): DerivedBytes
  /** Its offset is a multiple of this. */
  readonly alignment?: number
  /** Where in the file it lies, whatever its place in the table: weights behind what describes them, and last what is known last. */
  readonly stage?: 'front' | 'weights' | 'end'
}

type Kind = Pick<OutChunk, 'fourcc' | 'name' | 'flags'>

export async function plainChunk(kind: Kind, content: Uint8Array): Promise<OutChunk> {
  const hash = await digestOf('blake3', content)
  return withBytes(kind, content, content.byteLength, hash)
}

export async function compressedChunk(kind: Kind, content: Uint8Array, level: number | undefined): Promise<OutChunk> {
  const hash = await digestOf('blake3', content)
  const stored = await encodeZstd(content, level)
  return withBytes({ ...kind, flags: kind.flags + flags.zstd }, stored, content.byteLength, hash)
}

function withBytes(kind: Kind, stored: Uint8Array, ulen: number, hash: Uint8Array): OutChunk {
  const slot: Slot = { kind: 'bytes', path: kind.name, bytes: stored }
  return { ...kind, length: stored.byteLength, ulen, hash, slots: [slot], computeHash: async () => hash }
}

/** A chunk of another file, as it is stored there. */
export function storedChunk(chunk: Chunk, source: ByteSource): OutChunk {
  const { fourcc, name, flags: chunkFlags, length, ulen, hash, offset } = chunk
  const slot: Slot = { kind: 'payload', path: name, payload: rangePayload(source, offset, length) }
  return { fourcc, name, flags: chunkFlags, length, ulen, hash, slots: [slot], computeHash: async () => hash }
}

/** A chunk whose hash is not known yet. */
export function payloadChunk(kind: Kind, payload: Payload, stage: OutChunk['stage'] = 'front'): OutChunk {
  const { byteLength } = payload
  return {
    ...kind,
    length: byteLength,
    ulen: byteLength,
    hash: undefined,
    slots: [{ kind: 'payload', path: kind.name, payload }],
    stage,
    async computeHash(signal) {
      const hasher = await createHasher('blake3')
      for await (const bytes of payload.chunks(1 << 20, signal)) hasher.update(bytes)
      return hasher.digest()
    },
  }
}

export function shardChunk(shard: ShardContent, alignment: number): OutChunk {
  const { size } = shard.plan
  return {
    fourcc: 'WTSH',
    name: shard.name,
    flags: flags.mmapCritical,
    length: size,
    ulen: size,
    hash: undefined,
    slots: slotsMadeBy(() => shard.slots()),
    isHashedInPassing: true,
    shard,
    stage: 'weights',
    alignment,
    async computeHash(signal) {
      return (await shard.hashes(signal)).whole
    },
  }
}

/** The page table of a shard; its size is known before its digests. */
export function pagesChunk(shard: ShardContent, pageSize: number, stage: OutChunk['stage']): OutChunk {
  const size = pageTableSize(shard.name, pageSize, pageCount(shard.plan.size, pageSize))
  const payload: Payload = {
    byteLength: size,
    async *chunks(window, signal) {
      const { pages } = await shard.hashes(signal)
      yield* bytesPayload(encodePageTable(shard.name, pageSize, pages)).chunks(window, signal)
    },
  }
  const kind = { fourcc: 'PHSH', name: pagesName(shard.name), flags: flags.optional }
  return {
    ...payloadChunk(kind, payload, stage),
    derive: (offsetOf) => ({
      needs: [shard.pageTrack(pageSize, offsetOf(shard))],
      make: ([pages]) => encodePageTable(shard.name, pageSize, digestsIn(pages!)),
    }),
  }
}
