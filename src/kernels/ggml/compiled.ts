// The compiled decoders and encoders of ggml's common block types (assembly/ggml), each with its plain twin to fall back on; both give the same
// bits. They work in the arena, directly on windows that lie there and on other data through a small tile.
import { arenaMemory, takeWindow } from '../../bytes/index.js'
import { bitsOf } from '../../bytes/views.js'
import { instantiate, lazyModule } from '../load.js'
import { type BlockLayout, blockBytes, type DecodeBlocks, type EncodeBlocks, type EncodeRow } from './layouts.js'
import { wasmBase64 } from './wasm-bytes.js'

/** Source, target, importance weights and tables are addresses in the arena. No weights: 0. */
type Kernel = (source: number, target: number, blocks: number, importance?: number, tables?: number) => void

export type CompiledDecoder = `decode${'Q4_0' | 'Q8_0' | 'Q2_K' | 'Q3_K' | 'Q4_K' | 'Q5_K' | 'Q6_K'}`
export type CompiledEncoder =
  `encode${'Q4_0' | 'Q4_1' | 'Q5_0' | 'Q5_1' | 'Q8_0' | 'Q2_K' | 'Q3_K' | 'Q4_K' | 'Q5_K' | 'Q6_K'}`
/** With importance weights, or for types that ignore them. */
export type CompiledRowEncoder =
  `encode${'IQ4_NL' | 'IQ4_XS' | 'MXFP4' | 'NVFP4' | 'TQ1_0' | 'TQ2_0' | 'Q1_0' | 'Q2_0' | `Exact${'Q2_K' | 'Q3_K' | 'Q4_K' | 'Q5_K' | 'Q6_K'}`}`
/** The same, with the tables of a lattice. */
export type CompiledLatticeEncoder =
  `encode${'IQ1_S' | 'IQ1_M' | 'IQ2_XXS' | 'IQ2_XS' | 'IQ2_S' | 'IQ3_XXS' | 'IQ3_S' | 'ClosedIQ3_S'}`

export interface GgmlModule {
  readonly run: Readonly<
    Record<CompiledDecoder | CompiledEncoder | CompiledRowEncoder | CompiledLatticeEncoder, Kernel>
  > & {
    firstAtLeast(values: number, count: number, bits: number): number
    markUnusual(
      values: number,
      encoded: number,
      size: number,
      blocks: number,
      bits: number,
      least: number,
      most: number,
    ): void
    prepareLattice(
      tables: number,
      size: number,
      count: number,
      width: number,
      distances: number,
      step: number,
      lowest: number,
    ): void
  }
  readonly buffer: ArrayBufferLike
  readonly codes: Uint8Array
  readonly values: Float32Array
  readonly importance: Float32Array
}

/** What the nearest caches hold: 8192 values, and their codes, which are fewer bytes in all types. */
export const tileValues = 8192
const tileSize = 4 * tileValues
/** Fewer blocks are not worth the call. */
const minBlocks = 4

/** Undefined where there is no WebAssembly. */
export const ggmlModule = lazyModule((): GgmlModule | undefined => {
  const memory = arenaMemory()
  const run = instantiate<GgmlModule['run']>(wasmBase64(), memory)
  const tile = run && takeWindow(3 * tileSize)
  if (!tile || tile.buffer !== memory.buffer) return undefined
  const floats = (nth: number): Float32Array =>
    new Float32Array(tile.buffer, tile.byteOffset + nth * tileSize, tileValues)
  return { run, buffer: memory.buffer, codes: tile.subarray(0, tileSize), values: floats(1), importance: floats(2) }
})

/** Decodes with the compiled kernel, or with `plain` where it cannot run. */
export function compiledDecoder(name: CompiledDecoder, layout: BlockLayout, plain: DecodeBlocks): DecodeBlocks {
  const size = blockBytes(layout)
  const { elements } = layout
  const step = tileValues / elements
  return (source, target, blocks) => {
    const module = blocks < minBlocks ? undefined : ggmlModule()
    if (!module) return plain(source, target, blocks)
    const { buffer, codes, values, run } = module
    const isTargetInArena = target.buffer === buffer
    if (source.buffer === buffer && isTargetInArena) return run[name](source.byteOffset, target.byteOffset, blocks)
    for (let first = 0; first < blocks; first += step) {
      const count = Math.min(step, blocks - first)
      codes.set(source.subarray(first * size, (first + count) * size))
      run[name](codes.byteOffset, isTargetInArena ? target.byteOffset + 4 * first * elements : values.byteOffset, count)
      if (!isTargetInArena) target.set(values.subarray(0, count * elements), first * elements)
    }
  }
}

/** Encodes with the compiled kernel, or with `plain` where it cannot run. */
export function compiledEncoder(name: CompiledEncoder, layout: BlockLayout, plain: EncodeBlocks): EncodeBlocks {
  return (source, target, blocks) => {
    const module = blocks < minBlocks ? undefined : ggmlModule()
    if (module) encodeTiles(module, name, layout, { source, target, blocks })
    else plain(source, target, blocks)
  }
}

/** The same for rows, of types where no block depends on the others of its row. */
export function compiledRows(
  name: CompiledRowEncoder | CompiledLatticeEncoder,
  layout: BlockLayout,
  plain: EncodeRow,
  tables?: (module: GgmlModule) => number | undefined,
): EncodeRow {
  return (row, target, importance) => {
    const module = ggmlModule()
    const blocks = row.length / layout.elements
    const tablesAt = module && tables?.(module)
    if (!module || (tables && tablesAt === undefined)) plain(row, target, importance)
    else encodeTiles(module, name, layout, { source: row, target, blocks, importance, tables: tablesAt })
  }
}

interface Encoding {
  readonly source: Float32Array
  readonly target: Uint8Array
  readonly blocks: number
  readonly importance?: Float32Array | undefined
  readonly tables?: number | undefined
}

/** What does not lie in the arena is copied there, a tile at a time. */
function encodeTiles(
  module: GgmlModule,
  name: CompiledEncoder | CompiledRowEncoder | CompiledLatticeEncoder,
  layout: BlockLayout,
  { source, target, blocks, importance, tables }: Encoding,
): void {
  const { buffer, codes, run } = module
  const { elements } = layout
  const size = blockBytes(layout)
  const step = Math.floor(tileValues / elements)
  const isTargetInArena = target.buffer === buffer
  for (let first = 0; first < blocks; first += step) {
    const count = Math.min(step, blocks - first)
    const from = addressOf(source, first * elements, count * elements, module.values)
    const weights = importance ? addressOf(importance, first * elements, count * elements, module.importance) : 0
    run[name](from, isTargetInArena ? target.byteOffset + first * size : codes.byteOffset, count, weights, tables)
    if (!isTargetInArena) target.set(codes.subarray(0, count * size), first * size)
  }
}

/** Where in the arena these values are; those from elsewhere are copied to `tile`. */
export function addressOf(values: Float32Array, first: number, count: number, tile: Float32Array): number {
  if (values.buffer === tile.buffer) return values.byteOffset + 4 * first
  tile.set(values.subarray(first, first + count))
  return tile.byteOffset
}

/** The bits of an infinite magnitude; those of NaN are larger. */
const infinity = 0x7f800000

/** The index of the first value that is infinite or NaN, or -1. */
export const firstNonFinite = (values: Float32Array): number => firstAtLeast(values, infinity)

/** The index of the first value whose magnitude, as bits, is not below `bits`; NaN is above all others. -1 if there is none. */
export function firstAtLeast(values: Float32Array, bits: number): number {
  const module = ggmlModule()
  if (!module) return firstAtLeastPlain(values, bits)
  if (values.buffer === module.buffer) return module.run.firstAtLeast(values.byteOffset, values.length, bits)
  for (let first = 0; first < values.length; first += tileValues) {
    const tile = values.subarray(first, first + tileValues)
    module.values.set(tile)
    const found = module.run.firstAtLeast(module.values.byteOffset, tile.length, bits)
    if (found >= 0) return first + found
  }
  return -1
}

export function firstAtLeastPlain(values: Float32Array, bits: number): number {
  const codes = bitsOf(values)
  for (let i = 0; i < codes.length; i++) if ((codes[i]! & 0x7fffffff) >= bits) return i
  return -1
}
