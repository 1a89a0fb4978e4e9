// The compiled kernels for numbers. They work in the arena that windows lie in, on windows where they are; what lies elsewhere is copied to
// a tile first. The first pages of the arena hold their tables, and what they find (assembly/numbers/room.ts). All of that belongs to
// whoever calls, until the call returns to the event loop, except for counters that say whose they are.
import { arenaMemory } from '../bytes/index.js'
import { instantiate } from './instantiate.js'
import { wasmBase64 } from './numbers-bytes.js'

const pageSize = 65_536

/** Pointers are addresses in the arena. */
interface Exports {
  summarize(values: number, pairs: number): void
  drainTops(): number
  addSquares(values: number, pairs: number, mean: number): number
  compareBlocks(a: number, b: number, blocks: number, abs: number, rel: number, most: number): void
  widenHalves(source: number, target: number, count: number): void
  widenBrains(source: number, target: number, count: number): void
  lookUp(bits: number, source: number, target: number, size: number): void
  narrowHalves(source: number, target: number, count: number): void
  narrowBrains(source: number, target: number, count: number): void
  narrowByTable(source: number, target: number, count: number): number
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

const roomAt = {
  results: 1024,
  totals: 4096,
  table: 8192,
  evenTops: pageSize,
  marks: 9 * pageSize,
  found: 10 * pageSize,
  codeTable: 18 * pageSize,
  tile: 24 * pageSize,
  secondTile: 26 * pageSize,
} as const

/** What fits a tile. */
export const tileSize = 2 * pageSize

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

let loaded: NumbersModule | null | undefined

/** Undefined where there is no WebAssembly. */
export function numbersModule(): NumbersModule | undefined {
  if (loaded === undefined) loaded = load() ?? null
  return loaded ?? undefined
}

/** Does what a host without WebAssembly does, to compare it with. */
export function withoutKernels<T>(work: () => T): T {
  const before = loaded
  loaded = null
  try {
    return work()
  } finally {
    loaded = before
  }
}

function load(): NumbersModule | undefined {
  const memory = arenaMemory()
  const run = instantiate<Exports>(wasmBase64, memory)
  if (!run) return undefined
  const { buffer } = memory
  return {
    run,
    buffer,
    results: new Float32Array(buffer, roomAt.results, 64),
    resultBits: new Uint32Array(buffer, roomAt.results, 64),
    totals: new Float64Array(buffer, roomAt.totals, 256),
    tops: new Uint32Array(buffer, roomAt.evenTops, pageSize),
    marks: new Uint8Array(buffer, roomAt.marks, pageSize),
    found: new Uint32Array(buffer, roomAt.found, 2 * pageSize),
    foundValues: new Float32Array(buffer, roomAt.found, 2 * pageSize),
    table: new Uint32Array(buffer, roomAt.table, 8192),
    codeTable: new Uint16Array(buffer, roomAt.codeTable, pageSize),
    tile: new Uint8Array(buffer, roomAt.tile, tileSize),
    secondTile: new Uint8Array(buffer, roomAt.secondTile, tileSize),
  }
}

/**
 * Hands out addresses of values in order, each with the number of bytes that can be worked on there: of all at once when they lie in the
 * arena, tile by tile otherwise.
 */
export function eachAddress(
  { buffer, tile }: NumbersModule,
  values: ArrayBufferView,
  most: number,
  visit: (address: number, offset: number, length: number) => void,
): void {
  const isNear = values.buffer === buffer
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
  const step = isNear ? most : Math.min(most, tileSize)
  for (let offset = 0; offset < bytes.length; offset += step) {
    const length = Math.min(step, bytes.length - offset)
    if (!isNear) tile.set(bytes.subarray(offset, offset + length))
    visit(isNear ? values.byteOffset + offset : tile.byteOffset, offset, length)
  }
}
