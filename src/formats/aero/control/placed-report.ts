// Findings inside a chunk. Positions in the content of a chunk are places in the file only when the chunk is stored plainly; inside
// compressed content the finding points at the chunk and the words say where.
import type { Code, Details, Report } from '../../../errors/index.js'
import { type Chunk, describeChunk, isCompressed } from './chunk.js'

/** A report for a parser that counts from the start of the content. `rename` replaces codes of shared parsers by the format's own. */
export function placedReport(report: Report, chunk: Chunk, rename: (code: Code) => Code = (code) => code): Report {
  const place = (details: Details): Details => {
    const at = details.offset ?? 0
    const message = `${describeChunk(chunk)}: ${details.message}`
    if (!isCompressed(chunk)) return { ...details, message, offset: chunk.offset + at }
    const { length: _length, ...rest } = details
    return { ...rest, message: `${message} (byte ${at} of the unfolded chunk)`, offset: chunk.offset }
  }
  return {
    file: report.file,
    strict: report.strict,
    report: (code, details) => report.report(rename(code), place(details)),
    fail: (code, details): never => report.fail(rename(code), place(details)),
    forFile: (file) => report.forFile(file),
  }
}
