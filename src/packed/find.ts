// Finds the tensors that belong together. No values are read: names, types and the configuration say it.
import { configOf } from '../content/model-names.js'
import type { Model, Tensor } from '../model/index.js'
import type { PackedWeight, Scheme } from './scheme.js'
import { awq } from './schemes/awq.js'
import { awqGemv, awqGemvFast } from './schemes/awq-gemv.js'
import { bitsandbytes4 } from './schemes/bitsandbytes.js'
import { compressedInt } from './schemes/compressed-int.js'
import { compressedMxfp4, compressedNvfp4, modeloptNvfp4, mxfp4, quarkMxfp4 } from './schemes/fp4.js'
import { gptq } from './schemes/gptq.js'
import { marlin } from './schemes/marlin.js'
import { marlin24 } from './schemes/marlin-24.js'
import { mlx } from './schemes/mlx.js'
import { mlxFloats } from './schemes/mlx-floats.js'
import { modeloptInt4 } from './schemes/modelopt-int4.js'
import { bitsandbytesInt8, compressedInt8, fp8Blocks, fp8Rows } from './schemes/scaled.js'
import { methodOf, packingSettings, type Settings } from './settings.js'

/** A new scheme is a file and a line here. */
const schemes: readonly Scheme[] = [
  gptq,
  ...marlin,
  ...marlin24,
  awq,
  awqGemv,
  awqGemvFast,
  compressedInt,
  compressedNvfp4,
  compressedMxfp4,
  modeloptNvfp4,
  modeloptInt4,
  quarkMxfp4,
  mxfp4,
  ...bitsandbytes4,
  bitsandbytesInt8,
  mlx,
  mlxFloats,
  fp8Blocks,
  ...fp8Rows,
  compressedInt8,
]

/** The scheme with this id. */
export const schemeNamed = (id: string): Scheme | undefined => schemes.find((scheme) => scheme.id === id)

/** Whether a configuration that says how weights are packed says it of a scheme that can be decoded. */
export const isKnownPacking = (settings: Settings): boolean =>
  methodOf(settings) === undefined || schemes.some((scheme) => scheme.isIn(settings))

export interface Packing {
  /** In the order of their codes. */
  readonly weights: readonly PackedWeight[]
  /** The names of tensors that say nothing about the weights, such as scales of activations. */
  readonly unused: ReadonlySet<string>
}

const known = new WeakMap<Model, Packing>()

const none: Packing = { weights: [], unused: new Set() }

/** How the names of tensors end that stand beside codes. */
const marks = [...new Set(schemes.flatMap(({ names }) => Object.values(names.beside)))]

/** Most models are not packed, and can have very many tensors: their names alone say so. */
const mayBePacked = (tensors: readonly Tensor[]): boolean =>
  tensors.some(({ name }) => marks.some((mark) => name.endsWith(mark)))

/** The packed weights of a model, by the configuration that it has or that lies beside it. */
export async function packingOf(model: Model, signal?: AbortSignal): Promise<Packing> {
  if (!mayBePacked(model.tensors)) return none
  const before = known.get(model)
  if (before) return before
  const config = await configOf(model, signal)
  const packing = findPacking(model.tensors, config ? packingSettings(config) : {})
  known.set(model, packing)
  return packing
}

export function findPacking(tensors: readonly Tensor[], settings: Settings): Packing {
  if (!mayBePacked(tensors)) return none
  const possible = schemes.filter((scheme) => scheme.isIn(settings))
  if (possible.length === 0) return none
  const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]))
  const weights = tensors.flatMap((codes) => {
    for (const scheme of possible) {
      const weight = weightOf(codes, scheme, byName, settings)
      if (weight) return [weight]
    }
    return []
  })
  const endings = [...new Set(weights.map(({ scheme }) => scheme))].flatMap(({ names }) => names.unused ?? [])
  const unused = tensors.flatMap(({ name }) => (endings.some((ending) => name.endsWith(ending)) ? [name] : []))
  return { weights, unused: new Set(unused) }
}

function weightOf(
  codes: Tensor,
  scheme: Scheme,
  byName: ReadonlyMap<string, Tensor>,
  settings: Settings,
): PackedWeight | undefined {
  const { names } = scheme
  if (!codes.name.endsWith(names.codes) || !scheme.isCodes(codes)) return undefined
  const stem = codes.name.slice(0, codes.name.length - names.codes.length)
  const beside: Record<string, Tensor | undefined> = {}
  for (const [part, ending] of Object.entries({ ...names.optional, ...names.beside })) {
    beside[part] = byName.get(stem + ending)
    if (!beside[part] && Object.hasOwn(names.beside, part)) return undefined
  }
  const name = stem + names.weight
  const isTaken = name !== codes.name && byName.has(name)
  const bits = scheme.bits({ codes, beside, settings })
  return isTaken || bits === undefined ? undefined : { scheme, name, codes, beside, settings, bits }
}
