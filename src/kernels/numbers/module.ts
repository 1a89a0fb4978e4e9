// The compiled kernels for plain numbers (assembly/numbers). They work in the arena, directly on windows that lie there; other data is copied
// to a tile first. Tables and results in the arena are valid until the caller returns to the event loop.
import { arenaMemory } from '../../bytes/index.js'
import { instantiate, lazyModule } from '../load.js'
import { numbersMap as at } from '../memory-map.js'
import { wasmBase64 } from './wasm-bytes.js'

/** Pointers are addresses in the arena. */
interface Exports {
  summarize(values: number, pairs: number): void
  drainTops(): number
  addSquares(values: number, pairs: number, mean: number): number
  compareBlocks(a: number, b: number, blocks: number, abs: number, rel: number, share: number): void
  f16ToF32(source: number, target: number, count: number): void
  bf16ToF32(source: number, target: number, count: number): void
  bf16ToF16(source: number, target: number, count: number): void
  f32ToF16(source: number, target: number, count: number): void
  f32ToBf16(source: number, target: number, count: number): void
  codesToF32(bits: number, source: number, target: number, size: number): void
  f32ToCodes(source: number, target: number, count: number): number
  f32ToWhole(
    bits: number,
    source: number,
    target: number,
    count: number,
    min: number,
    max: number,
    factor: number,
    zero: number,
    lowest: number,
    highest: number,
  ): number
  poolCells(values: number, pitch: number, rows: number, edges: number, cells: number, target: number): void
  transpose(
    size: number,
    source: number,
    pitch: number,
    target: number,
    targetPitch: number,
    step: number,
    lines: number,
    width: number,
  ): void
}

/** Bytes that fit a tile. */
export const tileSize = 2 * 65_536

const digits = 65_536

export interface NumbersModule {
  readonly run: Exports
  readonly buffer: ArrayBufferLike
  readonly results: Float32Array
  readonly resultBits: Uint32Array
  readonly totals: Float64Array
  readonly tops: Uint32Array
  readonly marks: Uint8Array
  readonly found: Uint32Array
  readonly foundValues: Float32Array
  readonly table: Uint32Array
  readonly codeTable: Uint16Array
  readonly tile: Uint8Array
  readonly secondTile: Uint8Array
}

/** Undefined where there is no WebAssembly. */
export const numbersModule = lazyModule((): NumbersModule | undefined => {
  const memory = arenaMemory()
  const run = instantiate<Exports>(wasmBase64(), memory)
  if (!run) return undefined
  const { buffer } = memory
  return {
    run,
    buffer,
    results: new Float32Array(buffer, at.results, 64),
    resultBits: new Uint32Array(buffer, at.results, 64),
    totals: new Float64Array(buffer, at.totals, 256),
    tops: new Uint32Array(buffer, at.evenTops, digits),
    marks: new Uint8Array(buffer, at.marks, digits),
    found: new Uint32Array(buffer, at.found, 2 * digits),
    foundValues: new Float32Array(buffer, at.found, 2 * digits),
    table: new Uint32Array(buffer, at.table, 8192),
    codeTable: new Uint16Array(buffer, at.codeTable, digits),
    tile: new Uint8Array(buffer, at.tile, tileSize),
    secondTile: new Uint8Array(buffer, at.secondTile, tileSize),
  }
})

/**
 * Calls `visit` with the address of values and the number of bytes there: `maxBytes` at a time when they lie in the arena, tile by tile
 * otherwise.
 */
export function eachAddress(
  { buffer, tile }: NumbersModule,
  values: ArrayBufferView,
  maxBytes: number,
  visit: (address: number, offset: number, length: number) => void,
): void {
  const isInArena = values.buffer === buffer
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
  const step = isInArena ? maxBytes : Math.min(maxBytes, tileSize)
  for (let offset = 0; offset < bytes.length; offset += step) {
    const length = Math.min(step, bytes.length - offset)
    if (!isInArena) tile.set(bytes.subarray(offset, offset + length))
    visit(isInArena ? values.byteOffset + offset : tile.byteOffset, offset, length)
  }
}
