// Where the sections of a file lie, whether they overlap, and what lies between them.
import type { ExtentRecorder } from '../../../bytes/index.js'
import type { Report } from '../../../errors/index.js'
import { codes } from '../codes.js'
import type { Range } from '../parts.js'

interface Section {
  readonly name: string
  readonly start: number
  readonly end: number
}

export class SectionMap {
  readonly #sections: Section[] = []
  readonly #report: Report
  /** Sections lie in [start, end): behind the header, before the footer. */
  readonly #start: number
  readonly #end: number
  #isComplete = true

  constructor(start: number, end: number, report: Report) {
    this.#start = start
    this.#end = end
    this.#report = report
  }

  get end(): number {
    return this.#end
  }

  /** Whether the section lies where it may; `at` is the place of its offset in the header. */
  claim(
    name: string,
    code: keyof typeof codes,
    offset: number,
    size: number | bigint,
    least: number,
    at: number,
  ): boolean {
    const length = Number(size)
    if (offset >= this.#start && length >= least && offset + length <= this.#end) {
      if (length > 0) this.#sections.push({ name, start: offset, end: offset + length })
      return true
    }
    this.#isComplete = false
    const where = `bytes ${this.#start} to ${this.#end}`
    const message =
      length < least
        ? `${size} bytes are too few: ${least} are the least`
        : `${size} bytes at ${offset} do not lie within ${where}, which sections may use`
    this.#report.report(codes[code], { offset: at, path: `header.${name}_offset`, message })
    return false
  }

  /** Says that a section is larger than what was claimed for it. */
  leaveOpen(): void {
    this.#isComplete = false
  }

  /** The bytes of no section, between header and footer. Not known when a section is not where it should be. */
  checkOverlap(): Range[] | undefined {
    const gaps: Range[] = []
    let reached = this.#start
    let before = 'header'
    for (const section of this.#sections.toSorted((a, b) => a.start - b.start)) {
      if (section.start < reached) {
        const message = `the ${section.name} section begins at ${section.start}, inside the ${before} section, which ends at ${reached}`
        this.#report.report(codes['section-overlap'], { offset: section.start, path: section.name, message })
        this.#isComplete = false
      } else if (section.start > reached) gaps.push([reached, section.start])
      if (section.end > reached) before = section.name
      reached = Math.max(reached, section.end)
    }
    if (reached < this.#end) gaps.push([reached, this.#end])
    return this.#isComplete ? gaps : undefined
  }
}

/** `ranges`: where each one starts and ends. */
export function recordPadding(
  ranges: ArrayLike<number>,
  file: string,
  path: string,
  extents: ExtentRecorder | undefined,
): void {
  if (!extents) return
  for (let i = 0; i < ranges.length; i += 2) {
    const [start, end] = [ranges[i]!, ranges[i + 1]!]
    extents.add({ file, offset: start, length: end - start, path, kind: 'padding' })
  }
}
