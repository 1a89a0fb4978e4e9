// Shorter types to f32 and back with the compiled kernels. Each function converts as many elements as fit its steps, from the first one on,
// and returns how many those are; the rest, and everything where there is no WebAssembly, is left to the caller's plain code.
import { type NumbersModule, numbersModule, tileSize } from './numbers.js'

/** What goes through a tile at a time: little enough for the nearest caches to hold both sides. */
const tileBytes = tileSize / 4

/** Fewer elements are done before the kernel has been called. */
const fewest = 64

/** Addresses of both sides, and how many steps. */
type Run = (source: number, target: number, steps: number) => void

const bytesOf = (view: ArrayBufferView): Uint8Array => new Uint8Array(view.buffer, view.byteOffset, view.byteLength)

/** `from` bytes become `to` bytes with each step. Where a side lies outside of the arena, it goes through a tile. */
function convert(
  { buffer, tile, secondTile }: NumbersModule,
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  to: number,
  steps: number,
  run: Run,
): void {
  const [isNear, isTargetNear] = [source.buffer === buffer, target.buffer === buffer]
  const most = isNear && isTargetNear ? steps : Math.floor(tileBytes / Math.max(from, to))
  for (let done = 0; done < steps; done += most) {
    const count = Math.min(most, steps - done)
    if (!isNear) tile.set(source.subarray(done * from, (done + count) * from))
    const at = isNear ? source.byteOffset + done * from : tile.byteOffset
    run(at, isTargetNear ? target.byteOffset + done * to : secondTile.byteOffset, count)
    if (!isTargetNear) target.set(secondTile.subarray(0, count * to), done * to)
  }
}

/** f16 to f32. */
export function widenHalves(source: Uint8Array, target: Float32Array): number {
  return inEights(target.length, source, 16, bytesOf(target), 32, ({ run }) => run.widenHalves)
}

/** bf16 to f32. */
export function widenBrains(source: Uint8Array, target: Float32Array): number {
  return inEights(target.length, source, 16, bytesOf(target), 32, ({ run }) => run.widenBrains)
}

/** f32 to f16. */
export function narrowHalves(source: Float32Array, target: Uint8Array): number {
  return inEights(source.length, bytesOf(source), 32, target, 16, ({ run }) => run.narrowHalves)
}

/** f32 to bf16. */
export function narrowBrains(source: Float32Array, target: Uint8Array): number {
  return inEights(source.length, bytesOf(source), 32, target, 16, ({ run }) => run.narrowBrains)
}

/** Eight elements are one step. */
function inEights(
  count: number,
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  to: number,
  choose: (module: NumbersModule) => (source: number, target: number, count: number) => void,
): number {
  const module = count < fewest ? undefined : numbersModule()
  if (!module) return 0
  const [run, steps] = [choose(module), Math.floor(count / 8)]
  convert(module, source, from, target, to, steps, (at, targetAt, length) => run(at, targetAt, length * 8))
  return steps * 8
}

type CodeWidth = 8 | 6 | 4 | 2 | 1

/** What each byte of packed codes stands for: the patterns of its codes, lowest bits first. Codes of 6 bits go by pairs. */
export function byteTable(bits: CodeWidth, patterns: Uint32Array): Uint32Array {
  const together = bits === 6 ? 12 : 8
  const perEntry = together / bits
  const mask = 2 ** bits - 1
  return Uint32Array.from({ length: 2 ** together * perEntry }, (_, i) => {
    const entry = Math.floor(i / perEntry)
    return patterns[(entry >>> ((i % perEntry) * bits)) & mask]!
  })
}

/** Packed codes to f32 by a `byteTable`. */
export function lookUp(bits: CodeWidth, table: Uint32Array, source: Uint8Array, target: Uint32Array): number {
  const stepBytes = bits === 6 ? 12 : 4
  const perStep = (8 * stepBytes) / bits
  const steps = Math.floor(target.length / perStep)
  const module = target.length < fewest ? undefined : numbersModule()
  if (!module) return 0
  module.table.set(table)
  convert(module, source, stepBytes, bytesOf(target), 4 * perStep, steps, (at, targetAt, count) =>
    module.run.lookUp(bits, at, targetAt, stepBytes * count),
  )
  return steps * perStep
}

/** Which code table the module has. */
let codeTable: Uint16Array | undefined

/**
 * f32 patterns to codes of one byte, by a table of 65536 for the upper half with its last bit set when the lower half is not zero. Stops
 * in front of values whose code has more than eight bits, but not always close to them.
 */
export function narrowByTable(table: Uint16Array, source: Uint32Array, target: Uint8Array): number {
  const module = source.length < fewest ? undefined : numbersModule()
  if (!module) return 0
  if (codeTable !== table) module.codeTable.set(table)
  codeTable = table
  const most = Math.floor(tileSize / 16)
  const steps = Math.floor(source.length / 4)
  const bytes = bytesOf(source)
  for (let done = 0; done < steps; done += most) {
    const count = Math.min(most, steps - done)
    let all = 0
    const [part, targetPart] = [bytes.subarray(done * 16, (done + count) * 16), target.subarray(done * 4)]
    convert(module, part, 16, targetPart, 4, count, (at, targetAt, length) => {
      all |= module.run.narrowByTable(at, targetAt, 4 * length)
    })
    if (all > 0xff) return done * 4
  }
  return steps * 4
}
