// Codes to values in plain TypeScript, whole blocks at a time. Codes are two's complement, the lowest bits of the first byte first: 32 codes of b
// bits fill 4·b bytes. A value is its code times the scale of its block, which f32 holds exactly.
import { bitsOf, requireBytes } from '../../../bytes/views.js'
import { quietNaN } from '../../numbers/float-bits.js'
import { blockValues, type CodeBits, type UnpackBlocks } from '../tile.js'

type UnpackBlock = (codes: Uint8Array, at: number, scale: number, target: Float32Array, to: number) => void

const unpackers: Readonly<Record<CodeBits, UnpackBlock>> = {
  8: unpack8,
  6: unpack6,
  4: unpack4,
  3: unpack3,
  2: unpack2,
}

export function unpackPlain(bits: CodeBits): UnpackBlocks {
  const unpack = unpackers[bits]
  const size = 4 * bits
  return (codes, scales, target) => {
    requireBytes(codes, scales.length * size)
    for (let block = 0; block < scales.length; block++) {
      const scale = scales[block]!
      const to = block * blockValues
      if (scale === 0)
        target.fill(0, to, to + blockValues) // never -0, whatever the codes are
      else unpack(codes, block * size, scale, target, to)
      if (scale - scale !== 0) unifyNaNs(target, to)
    }
  }
}

/** Infinite scales give NaN for code 0, and which NaN depends on the processor: replace it by one pattern. */
function unifyNaNs(target: Float32Array, from: number): void {
  const patterns = bitsOf(target)
  for (let i = from; i < from + blockValues; i++) if (Number.isNaN(target[i]!)) patterns[i] = quietNaN
}

function unpack8(codes: Uint8Array, at: number, scale: number, target: Float32Array, to: number): void {
  for (let i = 0; i < 32; i++) target[to + i] = ((codes[at + i]! << 24) >> 24) * scale
}

function unpack4(codes: Uint8Array, at: number, scale: number, target: Float32Array, to: number): void {
  for (let i = 0; i < 16; i++) {
    const byte = codes[at + i]!
    target[to + 2 * i] = ((byte << 28) >> 28) * scale
    target[to + 2 * i + 1] = ((byte << 24) >> 28) * scale
  }
}

function unpack2(codes: Uint8Array, at: number, scale: number, target: Float32Array, to: number): void {
  for (let i = 0; i < 8; i++) {
    const byte = codes[at + i]!
    const first = to + 4 * i
    target[first] = ((byte << 30) >> 30) * scale
    target[first + 1] = ((byte << 28) >> 30) * scale
    target[first + 2] = ((byte << 26) >> 30) * scale
    target[first + 3] = ((byte << 24) >> 30) * scale
  }
}

/** Three bytes hold four codes of six bits. */
function unpack6(codes: Uint8Array, at: number, scale: number, target: Float32Array, to: number): void {
  for (let i = 0; i < 8; i++) {
    const from = at + 3 * i
    const bits = codes[from]! | (codes[from + 1]! << 8) | (codes[from + 2]! << 16)
    const first = to + 4 * i
    target[first] = ((bits << 26) >> 26) * scale
    target[first + 1] = ((bits << 20) >> 26) * scale
    target[first + 2] = ((bits << 14) >> 26) * scale
    target[first + 3] = ((bits << 8) >> 26) * scale
  }
}

/** Three bytes hold eight codes of three bits. */
function unpack3(codes: Uint8Array, at: number, scale: number, target: Float32Array, to: number): void {
  for (let i = 0; i < 4; i++) {
    const from = at + 3 * i
    const bits = codes[from]! | (codes[from + 1]! << 8) | (codes[from + 2]! << 16)
    const first = to + 8 * i
    target[first] = ((bits << 29) >> 29) * scale
    target[first + 1] = ((bits << 26) >> 29) * scale
    target[first + 2] = ((bits << 23) >> 29) * scale
    target[first + 3] = ((bits << 20) >> 29) * scale
    target[first + 4] = ((bits << 17) >> 29) * scale
    target[first + 5] = ((bits << 14) >> 29) * scale
    target[first + 6] = ((bits << 11) >> 29) * scale
    target[first + 7] = ((bits << 8) >> 29) * scale
  }
}
