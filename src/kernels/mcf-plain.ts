// All kernels for MCF's blocks in plain TypeScript: what the compiled ones are compared with, and what works where those cannot.
import { encodePlain } from './mcf-encode.js'
import { referenceBlocksPlain, referenceSupersPlain } from './mcf-reference.js'
import { searchBlocksPlain } from './mcf-search-blocks.js'
import { searchSupersPlain } from './mcf-search-supers.js'
import type { TileKernels } from './mcf-tile.js'

export function plainKernels(): TileKernels {
  let tile = new Float32Array()
  return {
    load(values) {
      tile = values as Float32Array<ArrayBuffer>
      const patterns = new Uint32Array(values.buffer, values.byteOffset, values.length)
      return patterns.reduce((most, pattern) => Math.max(most, pattern & 0x7fffffff), 0)
    },
    searchBlocks: (bits, set, scales) => searchBlocksPlain(bits, set, tile, scales),
    searchSupers: (bits, set, shape, supers, subScales) => searchSupersPlain(bits, set, tile, shape, supers, subScales),
    encode: (bits, set, scales, codes) => encodePlain(bits, set, tile, scales, codes),
    referenceBlocks: (bits, shape, scales, codes) => referenceBlocksPlain(bits, tile, shape, scales, codes),
    referenceSupers: (bits, shape, supers, subScales, codes) =>
      referenceSupersPlain(bits, tile, shape, supers, subScales, codes),
  }
}
