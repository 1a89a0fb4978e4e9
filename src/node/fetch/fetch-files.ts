// Brings files from an address into a directory. Several come at once. Each is written under a hidden name, compared with the digest that the
// server states, and then gets its own name; what was there of it before an interruption is kept and continued.
import { createHash, type Hash } from 'node:crypto'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { checkAborted, defaultWindow, streamRange } from '../../bytes/index.js'
import { failWith } from '../../errors/index.js'
import { remoteCodes } from '../../remote/index.js'
import { Limiter } from '../../remote/s3/limiter.js'
import type { WriteProgress } from '../../writing/write-layout.js'
import { withIoErrors } from '../files/io-error.js'
import { hiddenNameFor } from '../files/temp-files.js'
import type { RemoteFile } from './collection.js'
import { FetchState } from './state.js'

export interface FetchOptions {
  /** How many files come at once. Default: 4. */
  readonly parallel?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: WriteProgress) => void) | undefined
}

export interface Fetched {
  readonly path: string
  readonly size: number
  /** `kept`: it was there already. `resumed`: some of it was. */
  readonly how: 'fetched' | 'resumed' | 'kept'
  /** The digest that its bytes were compared with; null where the server states none. */
  readonly checked: 'sha256' | 'md5' | null
}

/** Fetches all files, in the order in which they are given. */
export async function fetchFiles(
  files: readonly RemoteFile[],
  directory: string,
  { parallel = 4, signal, onProgress }: FetchOptions = {},
): Promise<readonly Fetched[]> {
  await withIoErrors(directory, () => mkdir(directory, { recursive: true }))
  const state = await FetchState.read(directory)
  const limiter = new Limiter(parallel)
  // If one fails, the others stop where they are.
  const stop = new AbortController()
  const either = AbortSignal.any([stop.signal, ...(signal ? [signal] : [])])
  const fetched: Fetched[] = []
  const total = files.reduce((sum, { size }) => sum + size, 0)
  let done = 0
  try {
    for (const [i, file] of files.entries()) {
      const advance = (bytes: number): void => {
        done += bytes
        onProgress?.({ done, total, path: file.path })
      }
      await limiter.run(async () => {
        fetched[i] = await fetchOne(file, directory, state, advance, either)
      })
    }
    await limiter.drain()
    return fetched
  } catch (error) {
    stop.abort()
    await limiter.drain().catch(() => {})
    throw error
  }
}

async function fetchOne(
  file: RemoteFile,
  directory: string,
  state: FetchState,
  advance: (bytes: number) => void,
  signal: AbortSignal | undefined,
): Promise<Fetched> {
  const { path, size, version, digest } = file
  const target = join(directory, path)
  const checked = digest?.algorithm ?? null
  if (await isThere(file, target, state, signal)) {
    advance(size)
    return { path, size, how: 'kept', checked }
  }
  await withIoErrors(target, () => mkdir(dirname(target), { recursive: true }))
  const part = hiddenNameFor(target, 'tare-part')
  const isKnown = version !== undefined && state.get(path)?.version === version
  const before = isKnown ? Math.min((await stat(part).catch(() => undefined))?.size ?? 0, size) : 0
  if (version !== undefined) await state.set(path, { version, size })
  await download(file, part, before, advance, signal)
  await withIoErrors(target, () => rename(part, target))
  if (version !== undefined) await state.set(path, { version, size, done: (await stat(target)).mtimeMs })
  return { path, size, how: before > 0 ? 'resumed' : 'fetched', checked }
}

/** Whether a file is complete: it is as it was left, or has the right digest. */
async function isThere(
  { path, size, version, digest }: RemoteFile,
  target: string,
  state: FetchState,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const stats = await stat(target).catch(() => undefined)
  if (!stats?.isFile() || stats.size !== size) return false
  const known = state.get(path)
  if (version !== undefined && known?.version === version && known.done === stats.mtimeMs) return true
  return (
    digest !== undefined &&
    (await hashFile(target, size, createHash(digest.algorithm), signal)).digest('hex') === digest.hex
  )
}

async function download(
  file: RemoteFile,
  part: string,
  before: number,
  advance: (bytes: number) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { size, digest } = file
  const source = await file.open()
  try {
    if (source.size !== size) {
      const message = `the list says that it has ${size} bytes, and it has ${source.size}`
      failWith(remoteCodes.changed, { file: source.name, message })
    }
    const hash = digest && createHash(digest.algorithm)
    if (hash && before > 0) await hashFile(part, before, hash, signal)
    advance(before)
    const handle = await withIoErrors(part, () => open(part, before > 0 ? 'r+' : 'w'))
    try {
      await handle.truncate(before)
      let at = before
      for await (const chunk of streamRange({ source, offset: before, length: size - before }, defaultWindow, signal)) {
        hash?.update(chunk)
        for (let done = 0; done < chunk.byteLength; ) {
          const { bytesWritten } = await withIoErrors(part, () =>
            handle.write(chunk, done, chunk.byteLength - done, at + done),
          )
          done += bytesWritten
        }
        at += chunk.byteLength
        advance(chunk.byteLength)
      }
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (!hash || hash.digest('hex') === digest.hex) return
    await rm(part, { force: true })
    const message = `${basename(file.path)} does not have the ${digest.algorithm} that the server states; it was thrown away`
    failWith(remoteCodes['digest-mismatch'], { file: source.name, message })
  } finally {
    await source.close()
  }
}

async function hashFile(path: string, length: number, hash: Hash, signal: AbortSignal | undefined): Promise<Hash> {
  const handle = await withIoErrors(path, () => open(path, 'r'))
  try {
    const buffer = new Uint8Array(1 << 20)
    for (let at = 0; at < length; ) {
      checkAborted(signal, path)
      const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.byteLength, length - at), at)
      if (bytesRead === 0) break
      hash.update(buffer.subarray(0, bytesRead))
      at += bytesRead
    }
    return hash
  } finally {
    await handle.close()
  }
}
