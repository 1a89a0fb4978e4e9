// Compiled decoders for the types that most files consist of, and encoders. They work in the arena that windows lie in: on windows where they are, on
// anything else through a small tile. Where there is no WebAssembly the plain ones do the work, with the same bits.
import { arenaMemory, takeWindow } from '../../bytes/index.js'
import { instantiate } from '../../kernels/instantiate.js'
import type { DecodeBlocks } from './decode-legacy.js'
import type { EncodeBlocks } from './encode-legacy.js'
import { type BlockLayout, blockBytes } from './layouts.js'
import { wasmBase64 } from './wasm-bytes.js'

/** Source and target are addresses in the arena. */
type Kernel = (source: number, target: number, blocks: number) => void

export type CompiledName = `decode${'Q4_0' | 'Q8_0' | 'Q2_K' | 'Q3_K' | 'Q4_K' | 'Q5_K' | 'Q6_K'}`
export type CompiledEncoder =
  `encode${'Q4_0' | 'Q4_1' | 'Q5_0' | 'Q5_1' | 'Q8_0' | 'Q2_K' | 'Q3_K' | 'Q4_K' | 'Q5_K' | 'Q6_K'}`

interface Module {
  readonly run: Readonly<Record<CompiledName | CompiledEncoder, Kernel>> & {
    firstUnbounded(values: number, count: number): number
  }
  readonly buffer: ArrayBufferLike
  readonly codes: Uint8Array
  readonly values: Float32Array
}

/** What the nearest caches hold: 8192 values, and their codes, which are fewer bytes in all types. */
const tileValues = 8192
const tileSize = 4 * tileValues
/** For less it is not worth the way. */
const minBlocks = 4

let loaded: Module | null | undefined

function moduleOf(): Module | undefined {
  if (loaded === undefined) loaded = load() ?? null
  return loaded ?? undefined
}

function load(): Module | undefined {
  const memory = arenaMemory()
  const run = instantiate<Module['run']>(wasmBase64, memory)
  const tile = run && takeWindow(2 * tileSize)
  if (!tile || tile.buffer !== memory.buffer) return undefined
  const values = new Float32Array(tile.buffer, tile.byteOffset + tileSize, tileValues)
  return { run, buffer: memory.buffer, codes: tile.subarray(0, tileSize), values }
}

/** Whether the compiled kernels can run here. */
export const hasCompiled = (): boolean => moduleOf() !== undefined

export function compiled(name: CompiledName, layout: BlockLayout, plain: DecodeBlocks): DecodeBlocks {
  const size = blockBytes(layout)
  return (source, target, blocks) => {
    const module = blocks < minBlocks ? undefined : moduleOf()
    if (!module) plain(source, target, blocks)
    else if (source.buffer === module.buffer && target.buffer === module.buffer)
      module.run[name](source.byteOffset, target.byteOffset, blocks)
    else decodeTiles(module, module.run[name], size, layout.elements, source, target, blocks)
  }
}

function decodeTiles(
  { buffer, codes, values }: Module,
  run: Kernel,
  size: number,
  elements: number,
  source: Uint8Array,
  target: Float32Array,
  blocks: number,
): void {
  const step = tileValues / elements
  for (let first = 0; first < blocks; first += step) {
    const count = Math.min(step, blocks - first)
    const isHere = target.buffer === buffer
    codes.set(source.subarray(first * size, (first + count) * size))
    run(codes.byteOffset, isHere ? target.byteOffset + 4 * first * elements : values.byteOffset, count)
    if (!isHere) target.set(values.subarray(0, count * elements), first * elements)
  }
}

/** The number of the first value that is infinite or NaN, or -1. */
export function firstUnbounded(values: Float32Array): number {
  const module = moduleOf()
  if (!module) return firstUnboundedPlain(values)
  if (values.buffer === module.buffer) return module.run.firstUnbounded(values.byteOffset, values.length)
  for (let first = 0; first < values.length; first += tileValues) {
    const tile = values.subarray(first, first + tileValues)
    module.values.set(tile)
    const bad = module.run.firstUnbounded(module.values.byteOffset, tile.length)
    if (bad >= 0) return first + bad
  }
  return -1
}

/** Only what is not finite differs from itself by something other than zero. */
export function firstUnboundedPlain(values: Float32Array): number {
  for (let i = 0; i < values.length; i++) if (values[i]! - values[i]! !== 0) return i
  return -1
}

/** The other way round. */
export function compiledEncoder(name: CompiledEncoder, layout: BlockLayout, plain: EncodeBlocks): EncodeBlocks {
  const size = blockBytes(layout)
  const { elements } = layout
  const step = tileValues / elements
  return (source, target, blocks) => {
    const module = blocks < minBlocks ? undefined : moduleOf()
    if (!module) return plain(source, target, blocks)
    const { buffer, codes, values, run } = module
    const [isHere, isTargetHere] = [source.buffer === buffer, target.buffer === buffer]
    for (let first = 0; first < blocks; first += step) {
      const count = Math.min(step, blocks - first)
      if (!isHere) values.set(source.subarray(first * elements, (first + count) * elements))
      const from = isHere ? source.byteOffset + 4 * first * elements : values.byteOffset
      run[name](from, isTargetHere ? target.byteOffset + first * size : codes.byteOffset, count)
      if (!isTargetHere) target.set(codes.subarray(0, count * size), first * size)
    }
  }
}
