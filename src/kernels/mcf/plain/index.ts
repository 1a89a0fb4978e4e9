// All kernels for MCF's blocks in plain TypeScript: the reference for the compiled ones, and the fallback where those cannot run.

import type { TileKernels } from '../tile.js'
import { encodePlain } from './pack.js'
import { referenceBlocksPlain, referenceSupersPlain } from './reference.js'
import { searchBlocksPlain } from './search-blocks.js'
import { searchSupersPlain } from './search-supers.js'

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
