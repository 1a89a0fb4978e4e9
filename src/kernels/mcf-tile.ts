// What a kernel for MCF's blocks works on. A tile is whole blocks of 32 values, row after row, where every row is filled up with zeros to its
// last block; a row that is longer than a tile is cut at a multiple of eight blocks, so that no super-block is cut.

export const blockValues = 32
export const superBlocks = 8

export type CodeBits = 2 | 3 | 4 | 6 | 8

/** As many codes below zero as above, as the format has it; or all that there are, one more of them below. Scales can be negative then. */
export type CodeSet = 'symmetric' | 'all'

export interface TileShape {
  readonly rows: number
  /** Blocks in a row of the tile. */
  readonly perRow: number
  /** Columns of each row's last block that are real. */
  readonly tail: number
}

/** One tile at a time: load it, then ask for what is needed before anything is awaited. Scales and codes are written to the arguments. */
export interface TileKernels {
  /** Returns the largest magnitude as f32 bits, which are in the order of the values: 0x7f800000 and above is infinity or NaN. */
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

/** The codes between which values are rounded. */
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

/** What limits are for magnitudes of negative scales. */
export const turned = ({ low, high }: Limits): Limits => ({ low: -high, high: -low })

export const supersPerRow = (perRow: number): number => Math.ceil(perRow / superBlocks)
