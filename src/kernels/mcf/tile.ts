// What a kernel for MCF's blocks works on. A tile is whole blocks of 32 values, row after row, where every row is padded with zeros to whole
// blocks; a row that is longer than a tile is cut at a multiple of eight blocks, so that no super-block is cut.

export const blockValues = 32
/** Blocks that share a super-scale. */
export const superBlocks = 8
/** The maximum number of blocks in a tile. */
export const tileBlocks = 1024

export type CodeBits = 2 | 3 | 4 | 6 | 8

/** As many codes below zero as above, as the format says; or all codes, one more of them below zero. Scales can be negative then. */
export type CodeSet = 'symmetric' | 'all'

export interface TileShape {
  readonly rows: number
  /** Blocks in a row of the tile. */
  readonly perRow: number
  /** Columns of each row's last block that are not padding. */
  readonly tail: number
}

/** One tile at a time: load it, then call what is needed before awaiting anything. Scales and codes are written to the arguments. */
export interface TileKernels {
  /** Returns the largest magnitude as f32 bits, which are ordered like the values: from 0x7f800000 on infinity or NaN. */
  load(values: Float32Array): number
  /** The f16 scales with the least squared error. Returns the first block that is too large for f16, or -1. */
  searchBlocks(bits: CodeBits, set: CodeSet, scales: Uint16Array): number
  /** The same for super-blocks: f16 scales for eight blocks and sub-scales for each. */
  searchSupers(bits: CodeBits, set: CodeSet, shape: TileShape, supers: Uint16Array, subScales: Uint8Array): number
  /** The nearest codes for the scale of each block; all zeros where the scale is 0. */
  encode(bits: CodeBits, set: CodeSet, scales: Float32Array, codes: Uint8Array): void
  /** Scales and codes as the reference program makes them. */
  referenceBlocks(bits: CodeBits, shape: TileShape, scales: Uint16Array, codes: Uint8Array): void
  referenceSupers(bits: CodeBits, shape: TileShape, supers: Uint16Array, subScales: Uint8Array, codes: Uint8Array): void
}

/** The range of codes that values are clamped to. */
export interface Limits {
  readonly low: number
  readonly high: number
}

/** 127, 31, 7, 3 or 1. */
export const largestCode = (bits: CodeBits): number => 2 ** (bits - 1) - 1

export const codeLimits = (bits: CodeBits, set: CodeSet): Limits => ({
  low: -largestCode(bits) - (set === 'all' ? 1 : 0),
  high: largestCode(bits),
})

/** The limits for the magnitude of a negative scale. */
export const mirrored = ({ low, high }: Limits): Limits => ({ low: -high, high: -low })

export const supersPerRow = (perRow: number): number => Math.ceil(perRow / superBlocks)

/** Decodes `scales.length` blocks: a value is its code times the scale of its block, and +0 where that is 0. */
export type UnpackBlocks = (codes: Uint8Array, scales: Float32Array, target: Float32Array) => void
