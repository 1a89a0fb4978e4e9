// How another thread can produce the same bytes. A payload has functions and cannot be sent; a recipe is plain data and can. Transforms
// describe their payloads with a recipe; `src/transforms/rebuild.ts` follows it in the worker.
import type { SourceHandle } from '../bytes/index.js'

export type Recipe =
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

/** The properties of a tensor that affect its bytes. Types are given by id. */
export interface TensorRecipe {
  readonly name: string
  readonly dtype: string
  readonly encoding?: string | undefined
  readonly shape: readonly number[]
  readonly order: 'row' | 'column'
  readonly data: Recipe
}
