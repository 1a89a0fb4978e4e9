// BLAKE3 of a stream. Blocks of 64 chunks become nodes as soon as they are full; the nodes that wait for a partner are kept, the largest
// first. Two of the same size are combined only when another one follows: the last pair is the root, which is flagged.
import { type Blake3Kernel, blockSize, chunkSize } from '../kernels/digests/blake3.js'
import type { Hasher } from './types.js'

export class Blake3Hasher implements Hasher {
  readonly #kernel: Blake3Kernel
  /** The number of the first chunk; undefined when this is the whole input. */
  readonly #part: number | undefined
  /** Input that has not become a node yet. The first block of a tree waits here even when it is full: it may be the root. */
  #block: Uint8Array | undefined
  #filled = 0
  #blocks = 0
  readonly #waiting: Uint8Array[] = []
  #result: Uint8Array | undefined

  /** `part`: the number of the first chunk, a multiple of 64, for a subtree; `digest` then gives its chaining value. */
  constructor(kernel: Blake3Kernel, part?: number) {
    this.#kernel = kernel
    this.#part = part
  }

  update(bytes: Uint8Array): void {
    if (this.#result) throw new Error('this digest was taken already')
    for (let at = 0; at < bytes.byteLength; ) {
      if (this.#filled === blockSize) this.#addKept()
      const piece = bytes.subarray(at, at + blockSize - this.#filled)
      at += piece.byteLength
      if (piece.byteLength === blockSize && this.#blocks > 0) this.#add(piece)
      else this.#keep(piece)
    }
  }

  #addKept(): void {
    this.#add(this.#block!.subarray(0, this.#filled))
    this.#filled = 0
  }

  #keep(piece: Uint8Array): void {
    this.#block ??= new Uint8Array(blockSize)
    this.#block.set(piece, this.#filled)
    this.#filled += piece.byteLength
  }

  #add(block: Uint8Array): void {
    const counter = (this.#part ?? 0) + (this.#blocks * blockSize) / chunkSize
    const value = this.#kernel.subtree(block, counter, false)
    this.#settle()
    this.#waiting.push(value)
    this.#blocks++
  }

  /** The number of waiting nodes is the number of one bits in the number of blocks. */
  #settle(): void {
    let ones = 0
    for (let rest = this.#blocks; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2
    while (this.#waiting.length > ones) {
      const right = this.#waiting.pop()!
      this.#waiting.push(this.#kernel.parent(this.#waiting.pop()!, right, false))
    }
  }

  digest(): Uint8Array {
    this.#result ??= this.#finish()
    return this.#result
  }

  #finish(): Uint8Array {
    const isWhole = this.#part === undefined
    if (this.#blocks === 0) {
      const only = this.#block?.subarray(0, this.#filled) ?? new Uint8Array(0)
      return this.#kernel.subtree(only, this.#part ?? 0, isWhole)
    }
    if (this.#filled > 0) this.#addKept()
    this.#block = undefined
    let value = this.#waiting.pop()!
    while (this.#waiting.length > 0) {
      const left = this.#waiting.pop()!
      value = this.#kernel.parent(left, value, isWhole && this.#waiting.length === 0)
    }
    return value
  }
}
