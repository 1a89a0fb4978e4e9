// Kernels for MCF's blocks: the compiled ones where they run, otherwise their plain twins. Both give the same bits.
import { compiledKernels, compiledUnpack } from './compiled.js'
import { encodePlain } from './plain/pack.js'
import { referenceBlocksPlain, referenceSupersPlain } from './plain/reference.js'
import { searchBlocksPlain } from './plain/search-blocks.js'
import { searchSupersPlain } from './plain/search-supers.js'
import { unpackPlain } from './plain/unpack.js'
import type { CodeBits, TileKernels, UnpackBlocks } from './tile.js'

export { unpackRawBlocks } from './compiled.js'
export { expandBlocks, expandSupers } from './plain/f16-scales.js'
export * from './tile.js'

export const blockKernels = (): TileKernels => compiledKernels() ?? plainKernels()

export const blockUnpacker = (bits: CodeBits): UnpackBlocks => compiledUnpack(bits) ?? unpackPlain(bits)

export function plainKernels(): TileKernels {
  let tile = new Float32Array()
  return {
    load(values) {
      tile = values as Float32Array<ArrayBuffer>
      const patterns = new Uint32Array(values.buffer, values.byteOffset, values.length)
      return patterns.reduce((max, pattern) => Math.max(max, pattern & 0x7fffffff), 0)
    },
    searchBlocks: (bits, set, scales) => searchBlocksPlain(bits, set, tile, scales),
    searchSupers: (bits, set, shape, supers, subScales) => searchSupersPlain(bits, set, tile, shape, supers, subScales),
    encode: (bits, set, scales, codes) => encodePlain(bits, set, tile, scales, codes),
    referenceBlocks: (bits, shape, scales, codes) => referenceBlocksPlain(bits, tile, shape, scales, codes),
    referenceSupers: (bits, shape, supers, subScales, codes) =>
      referenceSupersPlain(bits, tile, shape, supers, subScales, codes),
  }
}
