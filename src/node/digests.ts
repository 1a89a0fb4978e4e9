// Node has faster digests than the portable ones: SHA-256 and CRC32 are built in, BLAKE3 is in an optional native package. Nothing is
// loaded before the first hasher is created.

import type { Hash } from 'node:crypto'
import { createRequire } from 'node:module'
import { Blake3Hasher } from '../digest/blake3-hasher.js'
import { crc32Hasher } from '../digest/crc32.js'
import { type DigestProvider, type Hasher, registerDigest } from '../digest/index.js'
import { blake3Kernel } from '../kernels/digests/index.js'

const load = createRequire(import.meta.url)

/** Importing a module again takes longer than hashing a small tensor. */
const modules: { crypto?: typeof import('node:crypto'); zlib?: typeof import('node:zlib') } = {}

const sha256: DigestProvider = {
  name: 'node:crypto',
  create() {
    modules.crypto ??= load('node:crypto') as typeof import('node:crypto')
    const hash: Hash = modules.crypto.createHash('sha256')
    return { update: (bytes) => void hash.update(bytes), digest: () => plainBytes(hash.digest()) }
  },
}

const crc32: DigestProvider = {
  name: 'node:zlib',
  create() {
    modules.zlib ??= load('node:zlib') as typeof import('node:zlib')
    return crc32Hasher(modules.zlib.crc32)
  },
}

interface NativeHasher {
  reset(): void
  update(bytes: Uint8Array): unknown
  digest(format: 'hex'): string
}

interface BlakeHash {
  readonly Blake3Hasher: new () => NativeHasher
}

let native: BlakeHash | null | undefined

/** The native package, or null if it is not installed or has no build for this machine. */
function loadBlake(): BlakeHash | null {
  if (native !== undefined) return native
  native = attempt(loadBuild) ?? attempt(() => load(blakePackage) as BlakeHash) ?? null
  return native
}

const blakePackage = '@napi-rs/blake-hash'

function attempt<T>(find: () => T): T | undefined {
  try {
    return find()
  } catch {
    return undefined
  }
}

/** The build for common Linux systems: to detect it, the package would have Node write a diagnostic report, which takes 5 ms. */
function loadBuild(): BlakeHash | undefined {
  if (process.platform !== 'linux') return undefined
  return createRequire(load.resolve(blakePackage))(`${blakePackage}-linux-${process.arch}-gnu`) as BlakeHash
}

const blake3: DigestProvider = {
  get name() {
    return loadBlake() ? blakePackage : blake3Kernel().name
  },
  create: () => new Blake3(),
}

/** Up to this size our own kernel is faster than calling the native package. */
const fewBytes = 8192
const noBytes = new Uint8Array(0)

/** Most inputs are short and arrive in one piece, such as small tensors; these never reach the native package. */
class Blake3 implements Hasher {
  #few: Uint8Array | undefined
  #long: Hasher | undefined
  #result: Uint8Array | undefined

  update(bytes: Uint8Array): void {
    if (this.#result) throw new Error('this digest was taken already')
    if (!this.#long && !this.#few && bytes.byteLength <= fewBytes) {
      this.#few = bytes.slice()
      return
    }
    this.#long ??= longBlake3()
    if (this.#few) this.#long.update(this.#few)
    this.#few = undefined
    this.#long.update(bytes)
  }

  digest(): Uint8Array {
    this.#result ??= this.#long ? this.#long.digest() : blake3Kernel().subtree(this.#few ?? noBytes, 0, true)
    return this.#result
  }
}

function longBlake3(): Hasher {
  const blake = loadBlake()
  return blake ? new NativeBlake3(idle.pop() ?? new blake.Blake3Hasher()) : new Blake3Hasher(blake3Kernel())
}

/**
 * Finished native hashers, for reuse. The package's memory, 3 KB each, is freed only between turns of the event loop; code that never waits
 * would accumulate it, and a table of pages needs a hasher every few MB.
 */
const idle: NativeHasher[] = []
const maxIdle = 64

class NativeBlake3 implements Hasher {
  readonly #hasher: NativeHasher

  constructor(hasher: NativeHasher) {
    this.#hasher = hasher
  }

  update(bytes: Uint8Array): void {
    this.#hasher.update(bytes)
  }

  /** To be called once. As text, since a Buffer of the package is freed by the event loop too. */
  digest(): Uint8Array {
    const result = plainBytes(Buffer.from(this.#hasher.digest('hex'), 'hex'))
    this.#hasher.reset()
    if (idle.length < maxIdle) idle.push(this.#hasher)
    return result
  }
}

/** A Buffer may be a view into a pool; digests get their own memory. */
const plainBytes = (bytes: Uint8Array): Uint8Array => Uint8Array.from(bytes)

/** Makes this process use Node's digests. */
export function registerNodeDigests(): void {
  registerDigest('sha256', sha256)
  registerDigest('crc32', crc32)
  registerDigest('blake3', blake3)
}
