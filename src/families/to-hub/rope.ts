// GGUF keeps RoPE's factors as tensors; a configuration says how they are computed, or lists them.
import { f32 } from '../../dtypes/index.js'
import { shortestF32 } from '../../dtypes/shortest.js'
import { callerWord, failWith } from '../../errors/index.js'
import { type Model, readPayload, type Tensor } from '../../model/index.js'
import { familyCodes } from '../codes.js'
import type { Config } from '../family.js'
import { llama3Factors, stillFactor } from '../rope.js'

const frequencies = 'rope_freqs.weight'
const longFactors = 'rope_factors_long.weight'
const shortFactors = 'rope_factors_short.weight'

/** Tensors that become settings. */
export const ropeTensors: ReadonlySet<string> = new Set([frequencies, longFactors, shortFactors])

/** No head has more. */
const maxFactors = 1 << 16

export interface RopeFactors {
  readonly frequencies?: readonly number[] | undefined
  readonly long?: readonly number[] | undefined
  readonly short?: readonly number[] | undefined
}

export async function readRopeFactors({ tensors }: Model, signal?: AbortSignal): Promise<RopeFactors> {
  const named = async (name: string): Promise<readonly number[] | undefined> => {
    const tensor = tensors.find((each) => each.name === name)
    return tensor && (await valuesOf(tensor, signal))
  }
  return { frequencies: await named(frequencies), long: await named(longFactors), short: await named(shortFactors) }
}

async function valuesOf({ name, dtype, shape, data }: Tensor, signal?: AbortSignal): Promise<readonly number[]> {
  const count = shape.length === 1 ? shape[0]! : 0
  if (dtype !== f32 || !data || count === 0 || count > maxFactors || data.byteLength !== 4 * count) {
    const message = `up to ${maxFactors} numbers of type f32 were expected; there are [${shape.join(', ')}] of ${dtype.id}`
    return failWith(familyCodes['tensor-shape'], { file: data?.origin?.source.name ?? '', path: name, message })
  }
  const bytes = await readPayload(data, signal)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: count }, (_, i) => view.getFloat32(4 * i, true))
}

/** The settings that the factors follow from. */
export function ropeScalingFor({ frequencies, long, short }: RopeFactors, theta: number, file: string): Config {
  if (long) {
    const listed = (values: readonly number[] = []): number[] => values.map(shortestF32)
    return { type: 'longrope', long_factor: listed(long), short_factor: listed(short) }
  }
  if (!frequencies) return {}
  // The settings of layers that see all of a text say how many are rotated.
  const rotated = frequencies.findIndex((factor) => factor !== 1)
  if (rotated >= 0 && frequencies.slice(rotated).every((factor) => factor === Math.fround(stillFactor)))
    return { partial_rotary_factor: rotated / frequencies.length }
  const scaling = llama3Scaling(frequencies, theta)
  if (scaling) return scaling
  const message = `these are not factors as Llama 3 computes them, and no configuration says so; ${callerWord('--as-is', 'asIs: true')} copies everything as it is`
  return failWith(familyCodes['config-value'], { file, path: 'rope_freqs.weight', message })
}

const isEqual = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((value, i) => Math.fround(value) === Math.fround(b[i]!))

/**
 * Low frequencies are divided by `factor`, high ones by 1, and those between by something between, which tells where the limits are. Only
 * the ratios of context and limits matter, so the lower limit can be 1.
 */
function llama3Scaling(factors: readonly number[], theta: number): Config | undefined {
  const size = factors.length * 2
  const factor = shortestF32(factors.reduce((max, each) => Math.max(max, each), 1))
  const tryWith = (context: number, high: number): Config | undefined => {
    const scaling = {
      factor,
      low_freq_factor: 1,
      high_freq_factor: high,
      original_max_position_embeddings: context,
      rope_type: 'llama3',
    }
    return isEqual(llama3Factors({ ...scaling, rope_theta: theta }, size), factors) ? scaling : undefined
  }
  for (const context of [8192, 4096, 2048, 16_384, 32_768, 65_536, 131_072, 1024, 512, 256, 128]) {
    const found = tryWith(context, 4)
    if (found) return found
  }
  const line = fitLine(factors, factor, theta)
  return line && tryWith(Math.round(line.context), shortestF32(Number(line.high.toPrecision(4))))
}

/** The share of 1 in a mixed factor grows with the number of turns in the context, along a line; two points of it are enough. */
function fitLine(factors: readonly number[], factor: number, theta: number) {
  const size = factors.length * 2
  const points = factors.flatMap((each, i) => {
    const wavelength = 2 * Math.PI * theta ** ((2 * i) / size)
    return each > 1 && each < factor ? [{ x: 1 / wavelength, y: (1 / each - 1 / factor) / (1 - 1 / factor) }] : []
  })
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last || first.x === last.x) return undefined
  const slope = (first.y - last.y) / (first.x - last.x)
  const range = 1 / (slope * first.x - first.y)
  return { context: slope * range, high: range + 1 }
}
