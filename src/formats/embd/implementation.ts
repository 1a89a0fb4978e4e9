import type { Implementation } from '../../model/index.js'
import { check } from './check.js'
import { layout } from './layout.js'
import { restorePart } from './parts.js'
import { read } from './read.js'
import { repair } from './repair/repair.js'

export const embd: Implementation = {
  async read(source, context) {
    const model = await read(source, context)
    return { model, check: (checking) => check(model, checking) }
  },
  layout,
  restorePart,
  repair,
}
