// Keeps fetched blocks on disk. Each block is preceded by a digest of its position and bytes, which is checked when it is read again:
// damaged or exchanged blocks are fetched again. Above the size limit the least recently used blocks are removed.
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rmdir, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { compareBytes, encodeUtf8, toHex } from '../../bytes/index.js'
import { createHasher, digestOf } from '../../digest/index.js'
import { failWith, usageCodes } from '../../errors/index.js'
import type { RangeStore } from '../../remote/index.js'
import { sizeFromEnvironment } from '../environment.js'

const digestLength = 32
/** Names in the store; a file being written has a longer name, and is left behind when the process is killed. */
const folderForm = /^[0-9a-f]{32}$/
const fileForm = /^\d+\.block(\.[^.]+\.tmp)?$/

/** Where fetched bytes are kept, and how many. */
export interface DiskStoreOptions {
  /** Default: TARE_CACHE, or `tare` in the user's cache directory. */
  readonly directory?: string | undefined
  /** In bytes. Default: TARE_CACHE_LIMIT, or 2 GiB. */
  readonly limit?: number | undefined
}

/** Undefined for users without a home, as in some containers. */
export function defaultCacheDirectory(): string | undefined {
  const { TARE_CACHE: own, XDG_CACHE_HOME: shared } = process.env
  // Empty means not set: otherwise blocks would be written to the working directory.
  if (own) return own
  if (shared) return join(shared, 'tare')
  try {
    return join(homedir(), '.cache', 'tare')
  } catch {
    return undefined
  }
}

async function digestOfBlock(key: string, block: number, bytes: Uint8Array): Promise<Uint8Array> {
  const hasher = await createHasher('blake3')
  hasher.update(encodeUtf8(`${key} ${block}\n`))
  hasher.update(bytes)
  return hasher.digest()
}

/** Keeps what was fetched from servers in a directory. */
export class DiskStore implements RangeStore {
  readonly directory: string
  readonly limit: number
  readonly #folders = new Map<string, string>()
  /** Bytes written since the last scan of the store. Initially the store's size is unknown. */
  #grown = Number.POSITIVE_INFINITY

  constructor(options: DiskStoreOptions = {}) {
    const directory = options.directory ?? defaultCacheDirectory()
    if (directory === undefined)
      failWith(usageCodes.option, { file: 'TARE_CACHE', message: 'name a directory for the cache' })
    this.directory = directory
    this.limit = options.limit ?? sizeFromEnvironment('TARE_CACHE_LIMIT') ?? 2 * 2 ** 30
  }

  async list(key: string): Promise<Set<number>> {
    const names = await readdir(await this.#folderOf(key)).catch(() => [])
    return new Set(names.filter((name) => /^\d+\.block$/.test(name)).map((name) => Number.parseInt(name, 10)))
  }

  async get(key: string, block: number): Promise<Uint8Array | undefined> {
    const path = await this.#pathOf(key, block)
    const stored = await readFile(path).catch(() => undefined)
    if (!stored || stored.byteLength < digestLength) return undefined
    const bytes = new Uint8Array(stored.buffer, stored.byteOffset + digestLength, stored.byteLength - digestLength)
    if (compareBytes(await digestOfBlock(key, block, bytes), stored.subarray(0, digestLength)) !== 0) {
      await unlink(path).catch(() => {})
      return undefined
    }
    const now = new Date()
    await utimes(path, now, now).catch(() => {})
    return bytes
  }

  /** A cache that cannot be written is no reason to fail. */
  async put(key: string, block: number, bytes: Uint8Array): Promise<void> {
    if (bytes.byteLength + digestLength > this.limit) return
    const path = await this.#pathOf(key, block)
    try {
      // Blocks may have been fetched with the user's credentials, so others must not read them.
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      const temp = `${path}.${randomUUID()}.tmp`
      await writeFile(temp, [await digestOfBlock(key, block, bytes), bytes], { mode: 0o600 })
      await rename(temp, path)
      this.#grown += bytes.byteLength + digestLength
      if (this.#grown > this.limit / 16) await this.trim()
    } catch {
      // the caller has the bytes; only the next run lacks them
    }
  }

  /**
   * Removes the oldest blocks until the limit is met, with some space to spare. Other files in the directory are neither counted nor
   * touched.
   */
  async trim(): Promise<void> {
    this.#grown = 0
    const files: { path: string; size: number; used: number }[] = []
    for (const folder of await readdir(this.directory).catch(() => [])) {
      if (!folderForm.test(folder)) continue
      for (const name of await readdir(join(this.directory, folder)).catch(() => [])) {
        if (!fileForm.test(name)) continue
        const path = join(this.directory, folder, name)
        const stats = await stat(path).catch(() => undefined)
        if (stats) files.push({ path, size: stats.size, used: stats.mtimeMs })
      }
    }
    let total = files.reduce((sum, file) => sum + file.size, 0)
    for (const file of files.sort((a, b) => a.used - b.used)) {
      if (total <= (this.limit / 16) * 15) return
      await unlink(file.path).catch(() => {})
      await rmdir(dirname(file.path)).catch(() => {}) // if that was the last one
      total -= file.size
    }
  }

  async #folderOf(key: string): Promise<string> {
    let folder = this.#folders.get(key)
    if (!folder) {
      folder = join(this.directory, toHex((await digestOf('blake3', encodeUtf8(key))).subarray(0, 16)))
      this.#folders.set(key, folder)
    }
    return folder
  }

  async #pathOf(key: string, block: number): Promise<string> {
    return join(await this.#folderOf(key), `${block}.block`)
  }
}
