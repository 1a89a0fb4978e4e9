import type { Implementation } from '../../model/index.js'
import { check } from './quant/check-blocks.js'
import { read } from './read.js'
import { restorePart } from './restore-part.js'
import { readCut } from './salvage.js'
import { editInPlace } from './write/edit-in-place.js'
import { layout } from './write/layout.js'

export const mcf: Implementation = {
  async read(source, context) {
    const model = await (context.onLost ? readCut : read)(source, context)
    return { model, check: (checking) => check(model, checking) }
  },
  layout,
  editInPlace,
  restorePart,
}
