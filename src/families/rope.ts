// Tensors that llama.cpp expects and no checkpoint has: factors by which RoPE's frequencies are divided, computed from the configuration.
import { bytesOf } from '../bytes/views.js'
import { f32 } from '../dtypes/index.js'
import { failWith } from '../errors/index.js'
import { bytesPayload, type MetaValue, type Tensor } from '../model/index.js'
import { fullHeadSize } from './architectures/decoders/gemma4.js'
import { phi3RopeSize } from './architectures/decoders/phi.js'
import { fullRope } from './architectures/shared-keys.js'
import { familyCodes } from './codes.js'
import type { ModelConfig } from './config.js'
import { headSize, num, numberIn } from './facts.js'
import type { Config } from './family.js'

export interface Computed {
  readonly tensors: readonly Tensor[]
  /** Metadata that comes with them, under the name of the architecture. */
  readonly metadata: readonly (readonly [key: string, value: MetaValue])[]
}

const nothing: Computed = { tensors: [], metadata: [] }

export function computedTensors({ family, config, rope }: ModelConfig, file: string): Computed {
  if (family.computed === 'rope-freqs') return ropeFrequencies(config, fullRope(rope), file)
  if (family.computed === 'rope-factors') return longRopeFactors(config, rope, file, phi3RopeSize(config, rope))
  if (family.computed === 'head-rope-factors')
    return { ...longRopeFactors(config, rope, file, headSize(config)), metadata: [] }
  if (family.computed === 'compressed-rope-factors')
    return { ...longRopeFactors(config, rope, file, num(config, 'qk_rope_head_dim')), metadata: [] }
  if (family.computed === 'proportional-rope-freqs') return proportionalFrequencies(config, rope, file)
  return nothing
}

/** Rotates the first elements of a head only: the others turn so slowly that they stand still. */
function proportionalFrequencies(config: Config, rope: Config, file: string): Computed {
  const size = fullHeadSize(config) ?? Number.NaN
  const share = numberIn(fullRope(rope), 'partial_rotary_factor') ?? Number.NaN
  const rotated = Math.trunc((size * share) / 2)
  const half = Math.trunc(size / 2)
  if (!(size > 0 && size <= maxHeadSize && rotated >= 0 && rotated <= half))
    return refuse(file, 'rope_parameters.full_attention', 'partial_rotary_factor and the size of a head are needed')
  const factors = Array.from({ length: half }, (_, i) => (i < rotated ? 1 : stillFactor))
  return { tensors: [vector('rope_freqs.weight', factors)], metadata: [] }
}

/** What the frequencies of elements that are not rotated are divided by. */
export const stillFactor = 1e30

function ropeFrequencies(config: Config, rope: Config, file: string): Computed {
  if (String(rope.rope_type).toLowerCase() !== 'llama3') return nothing
  const size = numberIn(config, 'head_dim') ?? headSize(config)
  const factors = Number.isInteger(size) && size > 0 && size <= maxHeadSize ? llama3Factors(rope, size) : undefined
  if (!factors) return refuse(file, 'head_dim', 'the size of a head is needed for rope_freqs')
  return { tensors: [vector('rope_freqs.weight', factors)], metadata: [] }
}

const maxHeadSize = 1 << 16

/** In single precision, rounded after each step, and with divisions by a computed number as products with its reciprocal, as torch does. */
export function llama3Factors(rope: Config, size: number): readonly number[] {
  const { fround } = Math
  const setting = (key: string, otherwise: number): number => numberIn(rope, key) ?? otherwise
  const theta = setting('rope_theta', 10000)
  const factor = setting('factor', 8)
  const low = setting('low_freq_factor', 1)
  const high = setting('high_freq_factor', 4)
  const context = setting('original_max_position_embeddings', 8192)
  const factors: number[] = []
  for (let i = 0; i < size; i += 2) {
    const frequency = fround(1 / fround(theta ** fround(i / size)))
    const wavelength = fround(fround(1 / frequency) * fround(2 * Math.PI))
    if (wavelength < context / high) factors.push(1)
    else if (wavelength > context / low) factors.push(factor)
    else {
      const turns = fround(fround(1 / wavelength) * fround(context))
      const smooth = fround(fround(turns - fround(low)) / fround(high - low))
      const mixed = fround(fround(fround(1 - smooth) / fround(factor)) + smooth)
      factors.push(fround(1 / mixed))
    }
  }
  return factors
}

function longRopeFactors(config: Config, rope: Config, file: string, size: number): Computed {
  const { long_factor: long, short_factor: short } = rope
  if (!Array.isArray(long) || long.length === 0) return nothing
  const half = size / 2
  if (!isNumbers(long) || !isNumbers(short) || long.length !== short.length || long.length !== half) {
    return refuse(file, 'rope_scaling.long_factor', `long_factor and short_factor need ${half} numbers each`)
  }
  const type = String(rope.rope_type ?? '').toLowerCase()
  if (type !== 'su' && type !== 'longrope') {
    return refuse(file, 'rope_scaling.type', `there is no rule for factors of type ${JSON.stringify(rope.rope_type)}`)
  }
  const original = num(rope, 'original_max_position_embeddings')
  const scale = num(config, 'n_positions', 'max_position_embeddings') / original
  const value = scale > 1 ? Math.sqrt(1 + Math.log(scale) / Math.log(original)) : 1
  return {
    tensors: [vector('rope_factors_long.weight', long), vector('rope_factors_short.weight', short)],
    metadata: [['rope.scaling.attn_factor', { type: 'f32', value }]],
  }
}

const isNumbers = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'number')

function vector(name: string, values: readonly number[]): Tensor {
  const data = bytesPayload(bytesOf(Float32Array.from(values)))
  return { name, dtype: f32, shape: [values.length], order: 'row', role: 'weight', data }
}

function refuse(file: string, path: string, message: string): never {
  return failWith(familyCodes['config-value'], { file, path, message })
}
