// How another thread can produce the same bytes. A payload has functions and cannot be sent; a recipe is plain data and can. Transforms
// describe their payloads with a recipe; `src/transforms/rebuild.ts` follows it in the worker.
import type { SourceHandle } from '../bytes/index.js'
import type { WholeScale } from '../kernels/numbers/whole.js'

export type Recipe =
  | MadeRecipe
  | {
      readonly kind: 'range'
      readonly handle: SourceHandle
      readonly offset: number
      readonly length: number
    }
  | { readonly kind: 'decode'; readonly tensor: TensorRecipe; readonly as: 'f32' | 'f64' }
  | {
      readonly kind: 'cast'
      readonly tensor: TensorRecipe
      readonly to: string
      readonly overflow?: boolean | undefined
    }
  | {
      readonly kind: 'rows'
      readonly tensor: TensorRecipe
      readonly to: string
      readonly importance: Float32Array | undefined
      readonly isReference: boolean | undefined
    }
  | {
      readonly kind: 'whole'
      readonly tensor: TensorRecipe
      readonly bits: 4 | 8
      readonly scale: WholeScale
    }

/** Bytes that a room beyond the transforms makes of several tensors. */
export interface MadeRecipe {
  readonly kind: 'made'
  /** Who makes it. */
  readonly by: string
  readonly tensors: Readonly<Record<string, TensorRecipe>>
  /** Plain data for the one who makes it. */
  readonly data: unknown
}

/** The properties of a tensor that affect its bytes. Types are given by id. */
export interface TensorRecipe {
  readonly name: string
  readonly dtype: string
  readonly encoding?: string | undefined
  readonly shape: readonly number[]
  readonly order: 'row' | 'column'
  readonly data: Recipe
}
