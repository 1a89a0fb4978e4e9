import type { Code, Details, Report } from '../../errors/index.js'
import { callerWord } from '../../errors/index.js'
import type { Implementation, ReadContext } from '../../model/index.js'
import { checkFile } from './check.js'
import { codes } from './codes.js'
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

export const aero: Implementation = {
  async read(source, context) {
    const { model, file } = await (context.onLost ? readCut : readFile)(source, withAdvice(context))
    return { model, check: (checking) => checkFile(file, withAdvice(checking)) }
  },
  verifiedPayload,
  layout,
  editInPlace,
  restorePart,
  repair,
}

export const aeroset: Implementation = {
  async read(source, context) {
    const { model, set } = await readSet(source, withAdvice(context))
    return { model, check: (checking) => checkSet(set, withAdvice(checking)) }
  },
  verifiedPayload,
  layout: layoutSet,
  restorePart,
}

/** What to do about the known defects of the reference's writers; REPAIR stands for how the caller repairs a file. */
const advice: ReadonlyMap<string, string> = new Map([
  [codes['defect-zero-hash'].code, 'the content is most likely fine, and REPAIR adds the hash'],
  [codes['defect-overwritten-weights'].code, 'what lies under it is lost, and REPAIR keeps the rest'],
  [codes['defect-blank-toc'].code, 'REPAIR finds the chunks again where it can'],
  [codes['defect-empty-pages'].code, 'nothing is lost, and REPAIR leaves the table out'],
  [codes['defect-empty-last-shard'].code, 'nothing is lost, and REPAIR pads the file'],
])

const withAdvice = <T extends ReadContext>(context: T): T => ({ ...context, report: advising(context.report) })

function advising(report: Report): Report {
  const advised = ({ code }: Code, details: Details): Details =>
    advice.has(code)
      ? {
          ...details,
          message: `${details.message}; ${advice.get(code)!.replace('REPAIR', callerWord('`tare repair`', 'repair()'))}`,
        }
      : details
  return {
    file: report.file,
    strict: report.strict,
    report: (code, details) => report.report(code, advised(code, details)),
    fail: (code, details): never => report.fail(code, advised(code, details)),
    forFile: (file) => advising(report.forFile(file)),
  }
}
