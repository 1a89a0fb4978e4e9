import type { Implementation } from '../../model/index.js'
import { check } from './check.js'
import { editInPlace } from './edit-in-place.js'
import { layout } from './layout.js'
import { read } from './read.js'
import { restorePart } from './restore-part.js'
import { readCut } from './salvage.js'

export const mcf: Implementation = {
  async read(source, context) {
    const model = await (context.onLost ? readCut : read)(source, context)
    return { model, check: (checking) => check(model, checking) }
  },
  layout,
  editInPlace,
  restorePart,
}
