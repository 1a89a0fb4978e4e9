// How another thread can make the same bytes. A payload is a function here and cannot travel; a recipe is plain data and can. Whoever builds
// payloads from others says how with a recipe; `src/transforms/rebuild.ts` follows it on the other side.
import type { SourceHandle } from '../bytes/index.js'

export type Recipe =
  | {
      readonly kind: 'range'
      readonly handle: SourceHandle
      readonly offset: number
      readonly length: number
    }
  | { readonly kind: 'decode'; readonly tensor: TensorRecipe; readonly as: 'f32' | 'f64' }
  | { readonly kind: 'cast'; readonly tensor: TensorRecipe; readonly to: string }

/** What of a tensor counts when its bytes are worked on. Types go by their ids. */
export interface TensorRecipe {
  readonly name: string
  readonly dtype: string
  readonly encoding?: string | undefined
  readonly shape: readonly number[]
  readonly order: 'row' | 'column'
  readonly data: Recipe
}
