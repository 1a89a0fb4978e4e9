// SHA-256 in WebAssembly, from a package. Each instance has a memory of its own, and an engine allows about a hundred of them, while a window may
// hold the beginnings of thousands of tensors. So all digests share one instance, and its state is saved when another one needs it.
import type { IHasher } from 'hash-wasm'
import type { Hasher } from './types.js'

let instance: Promise<IHasher | undefined> | undefined
/** The digest whose state the instance holds. */
let current: SharedSha256 | undefined

/** Undefined where there is no WebAssembly. */
export async function createCompiledSha256(): Promise<Hasher | undefined> {
  instance ??= import('hash-wasm').then(({ createSHA256 }) => createSHA256()).catch(() => undefined)
  const inner = await instance
  return inner && new SharedSha256(inner)
}

class SharedSha256 implements Hasher {
  readonly #inner: IHasher
  #state: Uint8Array | undefined
  #result: Uint8Array | undefined

  constructor(inner: IHasher) {
    this.#inner = inner
  }

  update(bytes: Uint8Array): void {
    if (this.#result) throw new Error('this digest was taken already')
    this.#takeTurn()
    this.#inner.update(bytes)
  }

  digest(): Uint8Array {
    if (this.#result) return this.#result
    this.#takeTurn()
    this.#result = this.#inner.digest('binary')
    current = undefined
    return this.#result
  }

  #takeTurn(): void {
    if (current === this) return
    if (current) current.#state = this.#inner.save()
    if (this.#state) this.#inner.load(this.#state)
    else this.#inner.init()
    this.#state = undefined
    current = this
  }
}
