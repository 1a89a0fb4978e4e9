// The digests of files, or of their pieces, for a signature.
import { createHash } from 'node:crypto'
import { type ByteSource, defaultWindow } from '../../bytes/index.js'
import { digestPayloads } from '../../inspect/digest-payloads.js'
import { type Payload, rangePayload } from '../../model/index.js'
import type { WorkerPool } from '../../threads/index.js'
import type { Resource, Serialization } from '../../trust/index.js'
import type { RemoteOptions } from '../remote/remote-input.js'
import type { ListedFile } from './list-files.js'

export interface HashFilesOptions {
  /** Threads that large work can be spread over. */
  readonly pool?: WorkerPool | undefined
  readonly signal?: AbortSignal | undefined
  /** For files at an address. */
  readonly remote?: RemoteOptions | undefined
  /** Called as bytes are read. */
  readonly onProgress?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

export interface HashedFiles {
  readonly resources: readonly Resource[]
  readonly bytes: number
}

/** One digest for each file or, with pieces, for each piece of it. Files that change meanwhile are refused. */
export async function hashFiles(
  files: readonly ListedFile[],
  { hash, shardSize }: Pick<Serialization, 'hash' | 'shardSize'>,
  options: HashFilesOptions = {},
): Promise<HashedFiles> {
  const resources: Resource[] = []
  let bytes = 0
  for (const { name, path, open } of files) {
    const source = await open()
    try {
      const pieces = piecesOf(name, source, shardSize)
      const digests =
        hash === 'blake2b'
          ? await blake2b(pieces, options)
          : await digestPayloads(
              pieces.map(({ payload }) => payload),
              hash,
              { ...options, name: path },
            )
      for (const piece of pieces) resources.push({ name: piece.name, digest: digests.get(piece.payload)! })
      await source.assertUnchanged?.()
      bytes += source.size
    } finally {
      await source.close()
    }
  }
  return { resources, bytes }
}

interface Piece {
  readonly name: string
  readonly payload: Payload
}

/** An empty file has no pieces. */
function piecesOf(name: string, source: ByteSource, shardSize: number | undefined): Piece[] {
  if (shardSize === undefined) return [{ name, payload: rangePayload(source, 0, source.size) }]
  const pieces: Piece[] = []
  for (let start = 0; start < source.size; start += shardSize) {
    const end = Math.min(source.size, start + shardSize)
    pieces.push({ name: `${name}:${start}:${end}`, payload: rangePayload(source, start, end - start) })
  }
  return pieces
}

async function blake2b(pieces: readonly Piece[], { signal }: HashFilesOptions): Promise<Map<Payload, string>> {
  const digests = new Map<Payload, string>()
  for (const { payload } of pieces) {
    const hasher = createHash('blake2b512')
    const { source, offset, length } = payload.origin!
    for (let at = 0; at < length; at += defaultWindow)
      hasher.update(await source.read(offset + at, Math.min(defaultWindow, length - at), { signal }))
    digests.set(payload, hasher.digest('hex'))
  }
  return digests
}
