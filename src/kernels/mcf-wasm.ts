// The compiled kernels for MCF's blocks: data goes into the module's windows and out again, a tile at a time, which the cache holds.
import { blockValues, type CodeBits, type CodeSet, supersPerRow, type TileKernels } from './mcf-tile.js'
import { tileBlocks, type WasmModule, wasmModule, windowAt } from './wasm.js'

/** Undefined where there is no WebAssembly. */
export function compiledKernels(): TileKernels | undefined {
  const module = wasmModule()
  return module && tileKernels(module)
}

/** Booleans of the module are 1 and 0. */
const allOf = (set: CodeSet): number => (set === 'all' ? 1 : 0)

function tileKernels({
  run,
  values: room,
  scales: scaleRoom,
  halves,
  subScales: subRoom,
  codes: codeRoom,
}: WasmModule): TileKernels {
  const { values, scales, subScales, codes } = windowAt
  let blocks = 0
  return {
    load(tile) {
      blocks = tile.length / blockValues
      if (!Number.isInteger(blocks) || blocks > tileBlocks) throw new RangeError(`${tile.length} values are no tile`)
      room.set(tile)
      return run.magnitudeBits(values, tile.length) >>> 0
    },
    searchBlocks(bits, set, target) {
      const bad = run.searchBlocks(bits, allOf(set), values, blocks, scales)
      target.set(halves.subarray(0, blocks))
      return bad
    },
    searchSupers(bits, set, { rows, perRow }, supers, subs) {
      const bad = run.searchSupers(bits, allOf(set), values, rows, perRow, scales, subScales)
      supers.set(halves.subarray(0, rows * supersPerRow(perRow)))
      subs.set(subRoom.subarray(0, blocks))
      return bad
    },
    encode(bits, set, from, target) {
      scaleRoom.set(from)
      run.encode(bits, allOf(set), values, scales, codes, blocks)
      target.set(codeRoom.subarray(0, blocks * 4 * bits))
    },
    referenceBlocks(bits, { rows, perRow, tail }, target, codeTarget) {
      run.referenceBlocks(bits, values, rows, perRow, tail, scales, codes)
      target.set(halves.subarray(0, blocks))
      codeTarget.set(codeRoom.subarray(0, blocks * 4 * bits))
    },
    referenceSupers(bits, { rows, perRow, tail }, supers, subs, codeTarget) {
      run.referenceSupers(bits, values, rows, perRow, tail, scales, subScales, codes)
      supers.set(halves.subarray(0, rows * supersPerRow(perRow)))
      subs.set(subRoom.subarray(0, blocks))
      codeTarget.set(codeRoom.subarray(0, blocks * 4 * bits))
    },
  }
}

/** Fewer than there is room for: what is written is read again at once, from the nearest cache. */
const unpackStep = tileBlocks / 4

/** Decodes `scales.length` blocks; a value is its code times the scale of its block, and +0 where that is 0. */
export type Unpack = (codes: Uint8Array, scales: Float32Array, target: Float32Array) => void

/** Undefined where there is no WebAssembly. */
export function compiledUnpack(bits: CodeBits): Unpack | undefined {
  const module = wasmModule()
  return module && ((codes, scales, target) => unpackTiles(module, bits, codes, scales, target))
}

function unpackTiles(
  module: WasmModule,
  bits: CodeBits,
  codes: Uint8Array,
  scales: Float32Array,
  target: Float32Array,
): void {
  const { run, values, scales: scaleRoom, codes: codeRoom } = module
  const size = 4 * bits
  if (codes.length < scales.length * size)
    throw new RangeError(`${scales.length} blocks do not fit ${codes.length} bytes`)
  for (let first = 0; first < scales.length; first += unpackStep) {
    const end = Math.min(first + unpackStep, scales.length)
    scaleRoom.set(scales.subarray(first, end))
    codeRoom.set(codes.subarray(first * size, end * size))
    run.unpack(bits, windowAt.codes, windowAt.scales, windowAt.values, end - first)
    target.set(values.subarray(0, (end - first) * blockValues), first * blockValues)
  }
}

/**
 * Decodes codes that share one scale and one zero point, as far as whole blocks of 32 go. Returns how many values were written; the rest,
 * and everything where there is no WebAssembly, is left to the caller.
 */
export function unpackRawBlocks(
  bits: 4 | 8,
  codes: Uint8Array,
  scale: number,
  zero: number,
  target: Float32Array,
): number {
  const module = wasmModule()
  if (!module || !Number.isFinite(scale) || !Number.isFinite(zero)) return 0
  const blocks = Math.floor(Math.min(target.length, (codes.length * 8) / bits) / blockValues)
  for (let first = 0; first < blocks; first += unpackStep) {
    const end = Math.min(first + unpackStep, blocks)
    module.codes.set(codes.subarray(first * 4 * bits, end * 4 * bits))
    module.run.unpackRaw(bits, windowAt.codes, scale, zero, windowAt.values, end - first)
    target.set(module.values.subarray(0, (end - first) * blockValues), first * blockValues)
  }
  return blocks * blockValues
}
