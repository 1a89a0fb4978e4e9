// f16 and bf16 to f32 and back: the compiled kernel takes eight elements at a time, its plain twin takes the rest, or all of them where there
// is no WebAssembly.
import { bytesOf, requireBytes } from '../../bytes/views.js'
import { type NumbersModule, numbersModule, tileSize } from './module.js'
import { bf16ToF32Plain, f16ToF32Plain, f32ToBf16Plain, f32ToF16Plain } from './plain/convert.js'

/** Below this the plain twin is done before the kernel is called. */
export const minElements = 64

/** Bytes that go through a tile at a time: few enough for the nearest caches to hold both sides. */
const tileBytes = tileSize / 4

/** Addresses of both sides, and how many steps. */
type RunSteps = (source: number, target: number, steps: number) => void

/** Runs a kernel that turns `from` bytes into `to` bytes with each step. A side that lies outside the arena goes through a tile. */
export function runSteps(
  { buffer, tile, secondTile }: NumbersModule,
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  to: number,
  steps: number,
  run: RunSteps,
): void {
  const [isInArena, isTargetInArena] = [source.buffer === buffer, target.buffer === buffer]
  const maxSteps = isInArena && isTargetInArena ? steps : Math.floor(tileBytes / Math.max(from, to))
  for (let done = 0; done < steps; done += maxSteps) {
    const count = Math.min(maxSteps, steps - done)
    if (!isInArena) tile.set(source.subarray(done * from, (done + count) * from))
    const at = isInArena ? source.byteOffset + done * from : tile.byteOffset
    run(at, isTargetInArena ? target.byteOffset + done * to : secondTile.byteOffset, count)
    if (!isTargetInArena) target.set(secondTile.subarray(0, count * to), done * to)
  }
}

/** Decodes f16, bit-exact. */
export function f16ToF32(source: Uint8Array, target: Float32Array): void {
  requireBytes(source, 2 * target.length)
  const done = inEights('f16ToF32', target.length, source, 16, bytesOf(target), 32)
  if (done < target.length) f16ToF32Plain(source.subarray(2 * done), target.subarray(done))
}

/** Decodes bf16, bit-exact. */
export function bf16ToF32(source: Uint8Array, target: Float32Array): void {
  requireBytes(source, 2 * target.length)
  const done = inEights('bf16ToF32', target.length, source, 16, bytesOf(target), 32)
  if (done < target.length) bf16ToF32Plain(source.subarray(2 * done), target.subarray(done))
}

/** Encodes f16. */
export function f32ToF16(source: Float32Array, target: Uint8Array): void {
  requireBytes(target, 2 * source.length)
  const done = inEights('f32ToF16', source.length, bytesOf(source), 32, target, 16)
  if (done < source.length) f32ToF16Plain(source.subarray(done), target.subarray(2 * done))
}

/** Encodes bf16. */
export function f32ToBf16(source: Float32Array, target: Uint8Array): void {
  requireBytes(target, 2 * source.length)
  const done = inEights('f32ToBf16', source.length, bytesOf(source), 32, target, 16)
  if (done < source.length) f32ToBf16Plain(source.subarray(done), target.subarray(2 * done))
}

/** bf16 as f16: the values of most models keep all their digits. */
export function bf16ToF16(source: Uint8Array, target: Uint8Array, count: number): void {
  requireBytes(source, 2 * count)
  requireBytes(target, 2 * count)
  const module = count < minElements ? undefined : numbersModule()
  const steps = module ? Math.floor(count / 8) : 0
  if (module) {
    const { run } = module
    runSteps(module, source, 16, target, 16, steps, (at, targetAt, length) => run.bf16ToF16(at, targetAt, length * 8))
  }
  const rest = new Float32Array(count - steps * 8)
  bf16ToF32Plain(source.subarray(steps * 16), rest)
  f32ToF16Plain(rest, target.subarray(steps * 16))
}

/** Runs a kernel on as many elements as fit its steps of eight; returns how many those are. */
function inEights(
  name: 'f16ToF32' | 'bf16ToF32' | 'f32ToF16' | 'f32ToBf16',
  count: number,
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  to: number,
): number {
  const module = count < minElements ? undefined : numbersModule()
  if (!module) return 0
  const [run, steps] = [module.run[name], Math.floor(count / 8)]
  runSteps(module, source, from, target, to, steps, (at, targetAt, length) => run(at, targetAt, length * 8))
  return steps * 8
}
