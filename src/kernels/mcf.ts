// Quantization kernels for MCF: the compiled ones where they run, otherwise their plain twins. Both give the same bits.
import { plainKernels } from './mcf-plain.js'
import type { TileKernels } from './mcf-tile.js'
import { compiledKernels } from './mcf-wasm.js'

export { expandBlocks, expandSupers } from './mcf-half.js'
export * from './mcf-tile.js'
export { compiledUnpack, unpackRawBlocks } from './mcf-wasm.js'
export { tileBlocks } from './wasm.js'

export const blockKernels = (): TileKernels => compiledKernels() ?? plainKernels()
