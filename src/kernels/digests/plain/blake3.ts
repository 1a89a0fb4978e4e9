// BLAKE3 in plain TypeScript, one block of 64 bytes after another. Words are little-endian, sums are modulo 2^32.
import { type Blake3Kernel, chunkSize } from '../blake3.js'

const blockBytes = 64
const flag = { chunkStart: 1, chunkEnd: 2, parent: 4, root: 8 } as const

const start = Uint32Array.of(
  0x6a09e667,
  0xbb67ae85,
  0x3c6ef372,
  0xa54ff53a,
  0x510e527f,
  0x9b05688c,
  0x1f83d9ab,
  0x5be0cd19,
)
const permutation = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8]

/** Which words of the message each of the seven rounds takes, in order. */
const schedule = [...permutation.keys()]
for (let i = 0; i < 6 * 16; i++) schedule.push(schedule[i - (i % 16) + permutation[i % 16]!]!)

const state = new Uint32Array(16)
const message = new Uint32Array(16)

function mixQuarter(a: number, b: number, c: number, d: number, first: number, second: number): void {
  state[a] = state[a]! + state[b]! + first
  state[d] = rotate(state[d]! ^ state[a]!, 16)
  state[c] = state[c]! + state[d]!
  state[b] = rotate(state[b]! ^ state[c]!, 12)
  state[a] = state[a]! + state[b]! + second
  state[d] = rotate(state[d]! ^ state[a]!, 8)
  state[c] = state[c]! + state[d]!
  state[b] = rotate(state[b]! ^ state[c]!, 7)
}

const rotate = (x: number, bits: number): number => (x >>> bits) | (x << (32 - bits))

/** Updates the chaining value with the next block, padded with zeros beyond `length`. */
function compress(value: Uint32Array, bytes: Uint8Array, at: number, length: number, counter: number, flags: number) {
  message.fill(0)
  for (let i = 0; i < length; i++) message[i >> 2]! |= bytes[at + i]! << (8 * (i & 3))
  state.set(value)
  state.set(start.subarray(0, 4), 8)
  state[12] = counter
  state[13] = Math.floor(counter / 2 ** 32)
  state[14] = length
  state[15] = flags
  for (let at = 0; at < schedule.length; at += 16) {
    const word = (i: number): number => message[schedule[at + i]!]!
    mixQuarter(0, 4, 8, 12, word(0), word(1))
    mixQuarter(1, 5, 9, 13, word(2), word(3))
    mixQuarter(2, 6, 10, 14, word(4), word(5))
    mixQuarter(3, 7, 11, 15, word(6), word(7))
    mixQuarter(0, 5, 10, 15, word(8), word(9))
    mixQuarter(1, 6, 11, 12, word(10), word(11))
    mixQuarter(2, 7, 8, 13, word(12), word(13))
    mixQuarter(3, 4, 9, 14, word(14), word(15))
  }
  for (let i = 0; i < 8; i++) value[i] = state[i]! ^ state[i + 8]!
}

function toBytes(value: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(4 * value.length)
  const view = new DataView(bytes.buffer)
  for (const [i, word] of value.entries()) view.setUint32(4 * i, word, true)
  return bytes
}

function hashChunk(bytes: Uint8Array, counter: number, rootFlag: number): Uint8Array {
  const value = start.slice()
  let flags: number = flag.chunkStart
  let at = 0
  for (; at + blockBytes < bytes.byteLength; at += blockBytes) {
    compress(value, bytes, at, blockBytes, counter, flags)
    flags = 0
  }
  compress(value, bytes, at, bytes.byteLength - at, counter, flags | flag.chunkEnd | rootFlag)
  return toBytes(value)
}

function parent(left: Uint8Array, right: Uint8Array, isRoot: boolean): Uint8Array {
  const both = new Uint8Array(blockBytes)
  both.set(left)
  both.set(right, left.byteLength)
  const value = start.slice()
  compress(value, both, 0, blockBytes, 0, flag.parent | (isRoot ? flag.root : 0))
  return toBytes(value)
}

/** The left subtree takes the largest power of two of chunks that leaves something for the right one. */
function subtree(bytes: Uint8Array, counter: number, isRoot: boolean): Uint8Array {
  if (bytes.byteLength <= chunkSize) return hashChunk(bytes, counter, isRoot ? flag.root : 0)
  let left = chunkSize
  while (2 * left < bytes.byteLength) left *= 2
  const values = [
    subtree(bytes.subarray(0, left), counter, false),
    subtree(bytes.subarray(left), counter + left / chunkSize, false),
  ] as const
  return parent(...values, isRoot)
}

export const blake3Plain: Blake3Kernel = { name: 'plain', subtree, parent }
