// Kernels for MCF's blocks: the compiled ones where they run, otherwise their plain twins. Both give the same bits.
import { compiledKernels, compiledUnpack } from './compiled.js'
import { plainKernels } from './plain/index.js'
import { unpackPlain } from './plain/unpack.js'
import type { CodeBits, TileKernels, UnpackBlocks } from './tile.js'

export { unpackRawBlocks } from './compiled.js'
export { expandBlocks, expandSupers } from './plain/f16-scales.js'
export * from './tile.js'

export const blockKernels = (): TileKernels => compiledKernels() ?? plainKernels()

export const blockUnpacker = (bits: CodeBits): UnpackBlocks => compiledUnpack(bits) ?? unpackPlain(bits)
