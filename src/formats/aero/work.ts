// What is done with files of this format. Loaded when there is one: a command that opens a file needs one format, not ten.
import type { ByteSource } from '../../bytes/index.js'
import type { CheckContext, Model, ReadContext } from '../../model/index.js'
import { advising } from './advice.js'
import { check as checkFile } from './check.js'
import { checkSet as checkFiles } from './check-set.js'
import { readFile } from './read.js'
import { readSet as readFiles } from './read-set.js'
import { readCut } from './salvage.js'

export { editInPlace } from './edit-in-place.js'
export { layout } from './layout.js'
export { layoutSet } from './layout-set.js'
export { repair } from './repair.js'
export { restorePart } from './restore-part.js'
export { verifiedPayload } from './verified-read.js'

/** The same context; findings that point to a known defect come with advice. */
const withAdvice = <T extends ReadContext>(context: T): T => ({ ...context, report: advising(context.report) })

export const read = (source: ByteSource, context: ReadContext): Promise<Model> =>
  (context.onLost ? readCut : readFile)(source, withAdvice(context))
export const check = (model: Model, context: CheckContext): Promise<void> => checkFile(model, withAdvice(context))

export const readSet = (source: ByteSource, context: ReadContext): Promise<Model> =>
  readFiles(source, withAdvice(context))
export const checkSet = (model: Model, context: CheckContext): Promise<void> => checkFiles(model, withAdvice(context))
