// f32 to whole numbers of eight or four bits under one scale. The compiled kernel takes eight values at a time, its plain twin takes the rest, or
// all of them where there is no WebAssembly; both give the same codes.
import { bytesOf, requireBytes } from '../../bytes/views.js'
import { minElements, runSteps } from './convert.js'
import { numbersModule } from './module.js'

export interface WholeScale {
  /** Values are clipped to this range first. */
  readonly min: number
  readonly max: number
  /** A code is value · factor + zero, to nearest, halves to even, and between these. */
  readonly factor: number
  readonly zero: number
  readonly lowest: number
  readonly highest: number
}

/** Encodes values; of 4 bits, the lower half of a byte comes first. Returns the index of the first value that is not finite, or -1. */
export function f32ToWhole(bits: 4 | 8, values: Float32Array, target: Uint8Array, scale: WholeScale): number {
  requireBytes(target, Math.ceil((values.length * bits) / 8))
  const done = encodeCompiled(bits, values, target, scale)
  const bad = f32ToWholePlain(bits, values.subarray(done), target.subarray((done * bits) / 8), scale)
  return bad < 0 ? -1 : done + bad
}

/** Returns how many values were encoded, a multiple of eight. Stops before a value that is not finite, but not always close to it. */
function encodeCompiled(bits: 4 | 8, values: Float32Array, target: Uint8Array, scale: WholeScale): number {
  const module = values.length < minElements ? undefined : numbersModule()
  if (!module) return 0
  const { min, max, factor, zero, lowest, highest } = scale
  const steps = Math.floor(values.length / 8)
  let done = 0
  let isBad = false
  runSteps(module, bytesOf(values), 32, target, bits, steps, (at, targetAt, length) => {
    if (isBad) return
    const count = 8 * length
    const made = module.run.f32ToWhole(bits, at, targetAt, count, min, max, factor, zero, lowest, highest)
    done += made
    isBad = made < count
  })
  return done
}

/** For magnitudes below 2^51; larger ones are beyond every limit before and after. */
const roundEven = (value: number): number => value + 1.5 * 2 ** 52 - 1.5 * 2 ** 52

export function f32ToWholePlain(
  bits: 4 | 8,
  values: Float32Array,
  target: Uint8Array,
  { min, max, factor, zero, lowest, highest }: WholeScale,
): number {
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (value - value !== 0) return i
    const clipped = value < min ? min : value > max ? max : value
    const place = clipped * factor + zero
    const code = roundEven(place < lowest ? lowest : place > highest ? highest : place)
    if (bits === 8) target[i] = code
    else if (i % 2 === 0) target[i >>> 1] = code & 15
    else target[i >>> 1]! |= (code & 15) << 4
  }
  return -1
}
