// The compiled kernels for MCF's blocks (assembly/mcf). They have a memory of their own, which never grows, so views of it stay valid. Data is
// copied to its windows and back, a tile at a time, which the cache holds; it is valid until the caller returns to the event loop.
import { requireBytes } from '../../bytes/views.js'
import { instantiate, lazyModule } from '../load.js'
import { mcfMap as at } from '../memory-map.js'
import {
  blockValues,
  type CodeBits,
  type CodeSet,
  supersPerRow,
  type TileKernels,
  tileBlocks,
  type UnpackBlocks,
} from './tile.js'
import { wasmBase64 } from './wasm-bytes.js'

/** Pointers are offsets into the memory. */
interface Exports {
  readonly memory: WebAssembly.Memory
  magnitudeBits(values: number, count: number): number
  searchBlocks(bits: number, all: number, values: number, blocks: number, scales: number): number
  searchSupers(
    bits: number,
    all: number,
    values: number,
    rows: number,
    perRow: number,
    supers: number,
    subScales: number,
  ): number
  encode(bits: number, all: number, values: number, scales: number, codes: number, blocks: number): void
  referenceBlocks(
    bits: number,
    values: number,
    rows: number,
    perRow: number,
    tail: number,
    scales: number,
    codes: number,
  ): void
  referenceSupers(
    bits: number,
    values: number,
    rows: number,
    perRow: number,
    tail: number,
    supers: number,
    subScales: number,
    codes: number,
  ): void
  unpack(bits: number, codes: number, scales: number, target: number, blocks: number): void
  unpackRaw(bits: number, codes: number, scale: number, zero: number, target: number, blocks: number): void
}

interface McfModule {
  readonly run: Exports
  readonly values: Float32Array
  readonly scales: Float32Array
  /** The window of scales, as f16 codes. */
  readonly f16Scales: Uint16Array
  readonly subScales: Uint8Array
  readonly codes: Uint8Array
}

/** Undefined where there is no WebAssembly. */
export const mcfModule = lazyModule((): McfModule | undefined => {
  const run = instantiate<Exports>(wasmBase64())
  if (!run) return undefined
  const { buffer } = run.memory
  return {
    run,
    values: new Float32Array(buffer, at.values, tileBlocks * blockValues),
    scales: new Float32Array(buffer, at.scales, tileBlocks),
    f16Scales: new Uint16Array(buffer, at.scales, tileBlocks),
    subScales: new Uint8Array(buffer, at.subScales, tileBlocks),
    codes: new Uint8Array(buffer, at.codes, tileBlocks * blockValues),
  }
})

/** Undefined where there is no WebAssembly. */
export function compiledKernels(): TileKernels | undefined {
  const module = mcfModule()
  return module && tileKernels(module)
}

/** Booleans of the module are 1 and 0. */
const allOf = (set: CodeSet): number => (set === 'all' ? 1 : 0)

function tileKernels({ run, values, scales, f16Scales, subScales, codes }: McfModule): TileKernels {
  let blocks = 0
  return {
    load(tile) {
      blocks = tile.length / blockValues
      if (!Number.isInteger(blocks) || blocks > tileBlocks) throw new RangeError(`${tile.length} values are no tile`)
      values.set(tile)
      return run.magnitudeBits(at.values, tile.length) >>> 0
    },
    searchBlocks(bits, set, target) {
      const bad = run.searchBlocks(bits, allOf(set), at.values, blocks, at.scales)
      target.set(f16Scales.subarray(0, blocks))
      return bad
    },
    searchSupers(bits, set, { rows, perRow }, supers, subs) {
      const bad = run.searchSupers(bits, allOf(set), at.values, rows, perRow, at.scales, at.subScales)
      supers.set(f16Scales.subarray(0, rows * supersPerRow(perRow)))
      subs.set(subScales.subarray(0, blocks))
      return bad
    },
    encode(bits, set, source, target) {
      scales.set(source)
      run.encode(bits, allOf(set), at.values, at.scales, at.codes, blocks)
      target.set(codes.subarray(0, blocks * 4 * bits))
    },
    referenceBlocks(bits, { rows, perRow, tail }, target, codeTarget) {
      run.referenceBlocks(bits, at.values, rows, perRow, tail, at.scales, at.codes)
      target.set(f16Scales.subarray(0, blocks))
      codeTarget.set(codes.subarray(0, blocks * 4 * bits))
    },
    referenceSupers(bits, { rows, perRow, tail }, supers, subs, codeTarget) {
      run.referenceSupers(bits, at.values, rows, perRow, tail, at.scales, at.subScales, at.codes)
      supers.set(f16Scales.subarray(0, rows * supersPerRow(perRow)))
      subs.set(subScales.subarray(0, blocks))
      codeTarget.set(codes.subarray(0, blocks * 4 * bits))
    },
  }
}

/** Fewer blocks than fit: what is written is read again at once, from the nearest cache. */
const unpackStep = tileBlocks / 4

/** Decodes `scales.length` blocks. Undefined where there is no WebAssembly. */
export function compiledUnpack(bits: CodeBits): UnpackBlocks | undefined {
  const module = mcfModule()
  return module && ((codes, scales, target) => unpackTiles(module, bits, codes, scales, target))
}

function unpackTiles(
  module: McfModule,
  bits: CodeBits,
  codes: Uint8Array,
  scales: Float32Array,
  target: Float32Array,
): void {
  const size = 4 * bits
  requireBytes(codes, scales.length * size)
  for (let first = 0; first < scales.length; first += unpackStep) {
    const end = Math.min(first + unpackStep, scales.length)
    module.scales.set(scales.subarray(first, end))
    module.codes.set(codes.subarray(first * size, end * size))
    module.run.unpack(bits, at.codes, at.scales, at.values, end - first)
    target.set(module.values.subarray(0, (end - first) * blockValues), first * blockValues)
  }
}

/**
 * Decodes codes that share one scale and one zero point, in whole blocks of 32. Returns how many values were written; the caller decodes the
 * rest, and everything where there is no WebAssembly.
 */
export function unpackRawBlocks(
  bits: 4 | 8,
  codes: Uint8Array,
  scale: number,
  zero: number,
  target: Float32Array,
): number {
  const module = mcfModule()
  if (!module || !Number.isFinite(scale) || !Number.isFinite(zero)) return 0
  const blocks = Math.floor(Math.min(target.length, (codes.length * 8) / bits) / blockValues)
  for (let first = 0; first < blocks; first += unpackStep) {
    const end = Math.min(first + unpackStep, blocks)
    module.codes.set(codes.subarray(first * 4 * bits, end * 4 * bits))
    module.run.unpackRaw(bits, at.codes, scale, zero, at.values, end - first)
    target.set(module.values.subarray(0, (end - first) * blockValues), first * blockValues)
  }
  return blocks * blockValues
}
