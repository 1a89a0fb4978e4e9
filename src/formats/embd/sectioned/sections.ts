// Where the sections of a file lie, whether they overlap, and what lies between them.
import { gaps, inOrder, overlaps, type Range } from '../../../bytes/index.js'
import type { Report } from '../../../errors/index.js'
import { codes } from '../codes.js'

interface Section extends Range {
  readonly name: string
}

export class SectionMap {
  readonly #sections: Section[] = []
  readonly #report: Report
  /** Sections lie in [start, end): behind the header, before the footer. */
  readonly #start: number
  readonly end: number
  #isComplete = true

  constructor(start: number, end: number, report: Report) {
    this.#start = start
    this.end = end
    this.#report = report
  }

  /** Whether the section lies where it may; `at` is the place of its offset in the header. */
  claim(
    name: string,
    code: keyof typeof codes,
    offset: number,
    size: number | bigint,
    minSize: number,
    at: number,
  ): boolean {
    const length = Number(size)
    if (offset >= this.#start && length >= minSize && offset + length <= this.end) {
      if (length > 0) this.#sections.push({ name, start: offset, end: offset + length })
      return true
    }
    this.#isComplete = false
    const where = `bytes ${this.#start} to ${this.end}`
    const message =
      length < minSize
        ? `${size} bytes are too few: ${minSize} is the minimum`
        : `${size} bytes at ${offset} do not lie within ${where}, which sections may use`
    this.#report.report(codes[code], { offset: at, path: `header.${name}_offset`, message })
    return false
  }

  /** Says that a section is larger than what was claimed for it. */
  leaveOpen(): void {
    this.#isComplete = false
  }

  /** The bytes of no section, between header and footer. Not known when a section is not where it should be. */
  findGaps(): Range[] | undefined {
    const ordered = inOrder(this.#sections)
    for (const [before, { name, start }] of overlaps(ordered)) {
      const message = `the ${name} section begins at ${start}, inside the ${before.name} section, which ends at ${before.end}`
      this.#report.report(codes['section-overlap'], { offset: start, path: name, message })
      this.#isComplete = false
    }
    return this.#isComplete ? [...gaps(ordered, this.#start, this.end)] : undefined
  }
}
