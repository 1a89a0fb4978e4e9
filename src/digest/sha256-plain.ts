// SHA-256 in plain TypeScript, for pages whose policy forbids WebAssembly. Blocks of 64 bytes go through 64 rounds each; the last block ends
// with the number of bits.
import type { Hasher } from './types.js'

const words = (text: string): Int32Array =>
  Int32Array.from(text.trim().split(/\s+/), (word) => Number.parseInt(word, 16))

/** The first 32 fractional bits of the square roots of the first 8 primes, and of the cube roots of the first 64. */
const start = words('6a09e667 bb67ae85 3c6ef372 a54ff53a 510e527f 9b05688c 1f83d9ab 5be0cd19')
const rounds = words(`
  428a2f98 71374491 b5c0fbcf e9b5dba5 3956c25b 59f111f1 923f82a4 ab1c5ed5
  d807aa98 12835b01 243185be 550c7dc3 72be5d74 80deb1fe 9bdc06a7 c19bf174
  e49b69c1 efbe4786 0fc19dc6 240ca1cc 2de92c6f 4a7484aa 5cb0a9dc 76f988da
  983e5152 a831c66d b00327c8 bf597fc7 c6e00bf3 d5a79147 06ca6351 14292967
  27b70a85 2e1b2138 4d2c6dfc 53380d13 650a7354 766a0abb 81c2c92e 92722c85
  a2bfe8a1 a81a664b c24b8b70 c76c51a3 d192e819 d6990624 f40e3585 106aa070
  19a4c116 1e376c08 2748774c 34b0bcb5 391c0cb3 4ed8aa4a 5b9cca4f 682e6ff3
  748f82ee 78a5636f 84c87814 8cc70208 90befffa a4506ceb bef9a3f7 c67178f2
`)

const blockSize = 64

export function createPlainSha256(): Hasher {
  const state = start.slice()
  const block = new Uint8Array(blockSize)
  let filled = 0
  let length = 0
  let result: Uint8Array | undefined
  return {
    update(bytes) {
      if (result) throw new Error('this digest was taken already')
      length += bytes.byteLength
      for (let at = 0; at < bytes.byteLength; ) {
        if (filled === 0 && bytes.byteLength - at >= blockSize) {
          const count = Math.floor((bytes.byteLength - at) / blockSize)
          mixBlocks(state, bytes.subarray(at, at + count * blockSize))
          at += count * blockSize
          continue
        }
        const piece = bytes.subarray(at, at + blockSize - filled)
        block.set(piece, filled)
        filled += piece.byteLength
        at += piece.byteLength
        if (filled < blockSize) continue
        mixBlocks(state, block)
        filled = 0
      }
    },
    digest() {
      result ??= finish(state, block.subarray(0, filled), length)
      return result
    },
  }
}

function finish(state: Int32Array, rest: Uint8Array, length: number): Uint8Array {
  const last = new Uint8Array(rest.byteLength < blockSize - 8 ? blockSize : 2 * blockSize)
  last.set(rest)
  last[rest.byteLength] = 0x80
  const view = new DataView(last.buffer)
  view.setUint32(last.byteLength - 8, Math.floor(length / 2 ** 29))
  view.setUint32(last.byteLength - 4, (length % 2 ** 29) * 8)
  mixBlocks(state, last)
  const digest = new DataView(new ArrayBuffer(32))
  for (const [i, word] of state.entries()) digest.setInt32(4 * i, word)
  return new Uint8Array(digest.buffer)
}

const schedule = new Int32Array(64)

function mixBlocks(state: Int32Array, bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < bytes.byteLength; at += blockSize) {
    for (let i = 0; i < 16; i++) schedule[i] = view.getInt32(at + 4 * i)
    for (let i = 16; i < 64; i++) {
      const early = schedule[i - 15]!
      const late = schedule[i - 2]!
      const first = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)
      const second = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10)
      schedule[i] = schedule[i - 16]! + first + schedule[i - 7]! + second
    }
    mixSchedule(state)
  }
}

const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

function mixSchedule(state: Int32Array): void {
  let a = state[0]!
  let b = state[1]!
  let c = state[2]!
  let d = state[3]!
  let e = state[4]!
  let f = state[5]!
  let g = state[6]!
  let h = state[7]!
  for (let i = 0; i < 64; i++) {
    const fromE = (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g))
    const added = (h + fromE + rounds[i]! + schedule[i]!) | 0
    const fromA = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
    h = g
    g = f
    f = e
    e = (d + added) | 0
    d = c
    c = b
    b = a
    a = (added + fromA) | 0
  }
  state[0] = state[0]! + a
  state[1] = state[1]! + b
  state[2] = state[2]! + c
  state[3] = state[3]! + d
  state[4] = state[4]! + e
  state[5] = state[5]! + f
  state[6] = state[6]! + g
  state[7] = state[7]! + h
}
