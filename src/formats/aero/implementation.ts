import type { Implementation, ReadContext } from '../../model/index.js'
import { advising } from './advice.js'
import { check } from './check.js'
import { checkSet } from './check-set.js'
import { editInPlace } from './edit-in-place.js'
import { layout } from './layout.js'
import { layoutSet } from './layout-set.js'
import { readFile } from './read.js'
import { readSet } from './read-set.js'
import { repair } from './repair.js'
import { restorePart } from './restore-part.js'
import { readCut } from './salvage.js'
import { verifiedPayload } from './verified-read.js'

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
