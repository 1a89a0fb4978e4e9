// The compiled kernels for MCF's blocks and their memory. It never grows, so views of it stay valid: a page of tables, then one window per
// kind of data, each on a page boundary. What lies there belongs to whoever calls, until the call returns to the event loop.
import { instantiate } from './instantiate.js'
import { wasmBase64 } from './mcf-bytes.js'

const pageSize = 65_536

/** The most blocks of 32 values that one call can take. */
export const tileBlocks = 1024

/** Where each window starts. */
export const windowAt = {
  values: pageSize,
  scales: 3 * pageSize,
  subScales: 4 * pageSize,
  codes: 5 * pageSize,
} as const

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

export interface WasmModule {
  readonly run: Exports
  /** The windows, as what they usually hold. */
  readonly values: Float32Array
  readonly scales: Float32Array
  readonly halves: Uint16Array
  readonly subScales: Uint8Array
  readonly codes: Uint8Array
}

let loaded: WasmModule | null | undefined

/** Undefined where there is no WebAssembly. */
export function wasmModule(): WasmModule | undefined {
  if (loaded === undefined) loaded = load() ?? null
  return loaded ?? undefined
}

function load(): WasmModule | undefined {
  const run = instantiate<Exports>(wasmBase64)
  if (!run) return undefined
  const { buffer } = run.memory
  return {
    run,
    values: new Float32Array(buffer, windowAt.values, tileBlocks * 32),
    scales: new Float32Array(buffer, windowAt.scales, tileBlocks),
    halves: new Uint16Array(buffer, windowAt.scales, tileBlocks),
    subScales: new Uint8Array(buffer, windowAt.subScales, tileBlocks),
    codes: new Uint8Array(buffer, windowAt.codes, tileBlocks * 32),
  }
}
