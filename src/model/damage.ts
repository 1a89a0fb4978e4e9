// Finds the findings about a tensor's bytes without scanning all of them for each tensor.
import { lowerBound } from '../bytes/lower-bound.js'
import type { Finding } from '../errors/index.js'
import type { Tensor } from './model.js'

interface Place {
  readonly start: number
  readonly end: number
  /** The maximum end of this place and all before it. */
  readonly reach: number
  readonly finding: Finding
}

export class Damage {
  readonly count: number
  readonly #byFile = new Map<string | undefined, Place[]>()
  readonly #findings: readonly Finding[]

  constructor(findings: readonly Finding[]) {
    this.count = findings.length
    this.#findings = findings
    const placed = findings.flatMap((finding) =>
      finding.offset === undefined ? [] : [{ finding, ...rangeOf(finding) }],
    )
    for (const { finding, start, end } of placed.sort((a, b) => a.start - b.start)) {
      const places = this.#byFile.get(finding.file)
      const place = { start, end, reach: Math.max(end, places?.at(-1)?.reach ?? 0), finding }
      if (places) places.push(place)
      else this.#byFile.set(finding.file, [place])
    }
  }

  /** Findings about the bytes of a tensor; if these are produced on the fly, findings about that name. */
  concerning({ name, data }: Pick<Tensor, 'name' | 'data'>): Finding[] {
    const origin = data?.origin
    if (!origin) {
      const quoted = JSON.stringify(name).slice(0, -1)
      return this.#findings.filter(({ path }) => path?.includes(`${quoted}"`) || path?.includes(`${quoted}.`))
    }
    const found: Finding[] = []
    const places = this.#byFile.get(origin.source.name) ?? []
    for (let i = lowerBound(places.length, (i) => places[i]!.start, origin.offset + origin.length) - 1; i >= 0; i--) {
      const { end, reach, finding } = places[i]!
      if (reach <= origin.offset) break
      if (end > origin.offset) found.push(finding)
    }
    return origin.length === 0 ? [] : found
  }
}

function rangeOf({ offset, length }: Finding): { start: number; end: number } {
  return { start: offset!, end: offset! + Math.max(length ?? 1, 1) }
}
