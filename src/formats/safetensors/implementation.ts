import { withCompanions } from '../../content/companions.js'
import type { Implementation } from '../../model/index.js'
import { check } from './check.js'
import { headSize, looksLikeIndex } from './detect.js'
import { editInPlace } from './edit-in-place.js'
import { indexMetadataKind, withIndexMetadata } from './index-metadata.js'
import { layout } from './layout.js'
import { readFile } from './read.js'
import { readIndex } from './read-index.js'

export const safetensors: Implementation = {
  async read(source, context) {
    const head = await source.read(0, Math.min(source.size, headSize), { signal: context.signal })
    const weights = looksLikeIndex(head)
      ? await readIndex(source, context)
      : withIndexMetadata(await readFile(source, context))
    const model = await withCompanions(weights, source, context)
    return { model, check: (checking) => check(model, checking) }
  },

  layout,
  editInPlace,

  restorePart(part) {
    const { kind, value } = part
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return kind === indexMetadataKind && isObject ? part : undefined
  },
}
