import type { Implementation, ReadContext } from '../../model/index.js'
import { advising } from './advice.js'
import { check } from './check.js'
import { editInPlace } from './edit/edit-in-place.js'
import { verifiedPayload } from './hash/verified-read.js'
import { layout } from './layout.js'
import { readFile } from './read.js'
import { repair } from './repair/repair.js'
import { readCut } from './repair/salvage.js'
import { restorePart } from './restore-part.js'
import { checkSet } from './set/check-set.js'
import { layoutSet } from './set/layout-set.js'
import { readSet } from './set/read-set.js'

/** The same context; findings that point to a known defect come with advice. */
const withAdvice = <T extends ReadContext>(context: T): T => ({ ...context, report: advising(context.report) })

export const aero: Implementation = {
  async read(source, context) {
    const model = await (context.onLost ? readCut : readFile)(source, withAdvice(context))
    return { model, check: (checking) => check(model, withAdvice(checking)) }
  },
  verifiedPayload,
  layout,
  editInPlace,
  restorePart,
  repair,
}

export const aeroset: Implementation = {
  async read(source, context) {
    const model = await readSet(source, withAdvice(context))
    return { model, check: (checking) => checkSet(model, withAdvice(checking)) }
  },
  verifiedPayload,
  layout: layoutSet,
  restorePart,
}
