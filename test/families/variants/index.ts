// Small models of architectures and settings that the golden cases do not have: a configuration, and the shapes of all tensors.
import { denseModels } from './dense.js'
import { hybridModels } from './hybrids.js'
import { laterModels } from './later.js'
import { otherModels } from './others.js'
import { recentModels } from './recent.js'
import { relatives } from './relatives.js'
import type { Variant } from './shapes.js'
import { sparseModels } from './sparse.js'
import { streamModels } from './streams.js'

export const variants: Readonly<Record<string, Variant>> = {
  ...denseModels,
  ...sparseModels,
  ...otherModels,
  ...relatives,
  ...hybridModels,
  ...recentModels,
  ...streamModels,
  ...laterModels,
}

export { tokenizerFiles } from './tokenizers.js'
