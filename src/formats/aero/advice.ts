// What to do about the known defects of the reference's writers. The parser says what it found; this adds what helps.
import type { Code, Details, Report } from '../../errors/index.js'
import { codes } from './codes.js'

const advice: ReadonlyMap<Code, string> = new Map([
  [codes['defect-zero-hash'], 'the content is most likely fine, and `tare repair` adds the hash'],
  [codes['defect-overwritten-weights'], 'what lies under it is lost, and `tare repair` keeps the rest'],
  [codes['defect-blank-toc'], '`tare repair` finds the chunks again where it can'],
  [codes['defect-empty-pages'], 'nothing is lost, and `tare repair` leaves the table out'],
  [codes['defect-empty-last-shard'], 'nothing is lost, and `tare repair` pads the file'],
])

export function advising(report: Report): Report {
  const advised = (code: Code, details: Details): Details => {
    const [, words] = [...advice].find(([each]) => each.code === code.code) ?? []
    return words === undefined ? details : { ...details, message: `${details.message}; ${words}` }
  }
  return {
    file: report.file,
    strict: report.strict,
    report: (code, details) => report.report(code, advised(code, details)),
    fail: (code, details): never => report.fail(code, advised(code, details)),
    forFile: (file) => advising(report.forFile(file)),
  }
}
