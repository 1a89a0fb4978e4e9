// Packed weights in other threads: what they are made of as plain data, and the payload that follows from it.
import { checkRange } from '../bytes/index.js'
import { lazyPayload, type MadeRecipe, type Payload, type TensorRecipe } from '../model/index.js'
import { tensorRecipe } from '../model/model.js'
import type { Maker } from '../transforms/rebuild.js'
import { schemeNamed } from './find.js'
import { decodedRange } from './rows.js'
import type { PackedWeight } from './scheme.js'
import type { Settings } from './settings.js'

interface Data {
  readonly scheme: string
  readonly name: string
  readonly bits: number
  readonly byteLength: number
  readonly settings: Settings
}

/** Undefined if another thread cannot read one of the tensors. */
export function packedRecipe(weight: PackedWeight, byteLength: number): MadeRecipe | undefined {
  const { scheme, name, bits, codes, beside, settings } = weight
  const tensors: Record<string, TensorRecipe> = {}
  for (const [part, tensor] of Object.entries({ ...beside, codes })) {
    const recipe = tensor && tensorRecipe(tensor)
    if (tensor && !recipe) return undefined
    if (recipe) tensors[part] = recipe
  }
  const data: Data = { scheme: scheme.id, name, bits, byteLength, settings }
  return { kind: 'made', by: 'packed', tensors, data }
}

export const makePacked: Maker = ({ tensors, data }, rebuild) => {
  const { scheme: id, name, bits, byteLength, settings } = data as Data
  const rebuilt = Object.fromEntries(Object.entries(tensors).map(([part, recipe]) => [part, rebuild(recipe)]))
  const { codes, ...beside } = rebuilt
  const scheme = schemeNamed(id)
  if (!scheme || !codes) throw new Error(`${name} cannot be made of what was sent`)
  return packedPayload({ scheme, name, bits, codes, beside, settings }, byteLength)
}

/** The values of a weight as f32, from any element on. */
export function packedPayload(weight: PackedWeight, byteLength: number): Payload {
  const range = (offset: number, length: number): Payload =>
    lazyPayload(length, async function* (signal) {
      yield* decodedRange(await weight.scheme.matrix(weight, signal), offset, length, signal)
    })
  return {
    ...range(0, byteLength),
    async read(offset, length, signal) {
      checkRange({ name: weight.name, size: byteLength }, offset, length)
      const result = new Uint8Array(length)
      let at = 0
      for await (const piece of decodedRange(await weight.scheme.matrix(weight, signal), offset, length, signal)) {
        result.set(piece, at)
        at += piece.byteLength
      }
      return result
    },
    slices: { unit: 4, take: (offset, length) => range(offset, Math.min(length, byteLength - offset)) },
    recipe: () => packedRecipe(weight, byteLength),
  }
}
