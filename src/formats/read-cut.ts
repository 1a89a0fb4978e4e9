// A file that ends early: a download that stopped, a full disk. Its index, or its header, says how long it should be (`Finding.needs`), and
// often all names and shapes are there although most weights are not.
import type { ByteSource } from '../bytes/index.js'
import { collectingReport, type Finding, TareError } from '../errors/index.js'
import type { Lost, Model } from '../model/index.js'
import { type OpenOptions, recognise } from './open.js'

/** How much of a file is there. */
export interface Cut {
  readonly file: string
  readonly size: number
  /** At least this many bytes should be there. */
  readonly expected: number
  /** Nothing says how many more. */
  readonly isOpen?: boolean
  /** How many tensors are complete, of how many that the index names; absent if the index itself is cut. */
  readonly tensors?: { readonly whole: number; readonly total: number }
}

export interface CutModel {
  readonly cut: Cut
  /** What can be read of it; undefined if the index is not complete. */
  readonly model?: Model
  readonly lost: readonly Lost[]
  readonly findings: readonly Finding[]
}

/** Whether a finding says that the file is shorter than it should be. */
export const saysCut = ({ severity, needs }: Finding): boolean => severity === 'error' && needs !== undefined

/** Reads on behind what is missing, which `known` findings told about. Undefined if the file is not shorter than it says. */
export async function readCut(
  source: ByteSource,
  known: readonly Finding[],
  options: OpenOptions = {},
): Promise<CutModel | undefined> {
  const findings = known.filter(saysCut)
  const lost: Lost[] = []
  const report = collectingReport(source.name, findings)
  let model: Model | undefined
  try {
    const recognised = await recognise(source, { ...options, report, onLost: (what) => lost.push(what) })
    model = (await recognised.read()).model
  } catch (error) {
    if (!(error instanceof TareError) || options.signal?.aborted) throw error
    if (!findings.includes(error.finding)) findings.push(error.finding)
  }
  // What was read may be a patched form of the file, without what is cut.
  const files = model?.files.map((file) => (file.name === source.name ? source : file)) ?? [source]
  const place = findPlace(findings, files)
  if (!place) return undefined
  const counts = model && countWhole(model, lost)
  return { cut: { ...place, ...(counts && { tensors: counts }) }, ...(model && { model }), lost, findings }
}

/** The file that lacks most, of a model in several files. */
function findPlace(findings: readonly Finding[], files: readonly ByteSource[]): Omit<Cut, 'tensors'> | undefined {
  const cuts = files.flatMap(({ name, size }) => {
    const about = findings.filter((finding) => finding.file === name && saysCut(finding))
    const { needs = 0, needsMore } = about.toSorted((a, b) => b.needs! - a.needs!)[0] ?? {}
    return needs > size ? [{ file: name, size, expected: needs, ...(needsMore && { isOpen: true }) }] : []
  })
  return cuts.toSorted((a, b) => b.expected - b.size - (a.expected - a.size))[0]
}

/** Undefined where something is missing that has no name: then it is not known how many there were. */
function countWhole({ tensors }: Model, lost: readonly Lost[]): Cut['tensors'] {
  const missing = lost.filter(({ subject }) => subject === 'tensor')
  if (missing.some(({ name }) => name === undefined)) return undefined
  const whole = tensors.filter(({ data }) => !data?.origin || isInside(data.origin)).length
  const named = new Set(tensors.map(({ name }) => name))
  const others = new Set(missing.flatMap(({ name }) => (name !== undefined && !named.has(name) ? [name] : [])))
  const total = tensors.length + others.size
  return total === 0 ? undefined : { whole, total }
}

const isInside = ({ source, offset, length }: { source: ByteSource; offset: number; length: number }): boolean =>
  offset + length <= source.size
