import type { Implementation } from '../../model/index.js'
import { editInPlace } from './edit-in-place.js'
import { indexMetadataKind } from './index-metadata.js'
import { layout } from './layout.js'
import { read } from './read.js'

export const safetensors: Implementation = {
  read,
  layout,
  editInPlace,
  restorePart(part) {
    const { kind, value } = part
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return kind === indexMetadataKind && isObject ? part : undefined
  },
}
