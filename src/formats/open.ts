import { type ByteSource, decodeLossy, type ExtentRecorder, withHead } from '../bytes/index.js'
import { type Code, type Finding, failWith, openCodes, type Report, strictReport } from '../errors/index.js'
import { defaultLimits, type Format, type Limits, type Model, type Opened, type ReadContext } from '../model/index.js'
import { damageFinder } from './find-damage.js'
import { describeForeign, foreignKind } from './foreign.js'
import { formats } from './list.js'

export interface OpenOptions {
  /** The format's id, when the bytes should not decide. */
  readonly from?: string | undefined
  readonly lenient?: boolean | undefined
  readonly limits?: Partial<Limits> | undefined
  readonly signal?: AbortSignal | undefined
  readonly openElsewhere?: ReadContext['openElsewhere']
  /** Told about warnings and notes; errors are thrown. */
  readonly onFinding?: ((finding: Finding) => void) | undefined
}

export interface ReadRequest extends OpenOptions {
  readonly report: Report
  readonly extents?: ExtentRecorder | undefined
  readonly onLost?: ReadContext['onLost']
}

/** A recognised input, before its index is read. */
export interface Recognised {
  readonly format: Format
  readonly context: ReadContext
  read(): Promise<Opened>
}

/** Finds out what the source is. The first bytes are fetched once, for detection and for reading. */
export async function recognise(source: ByteSource, request: ReadRequest): Promise<Recognised> {
  const { report, extents, signal, from, openElsewhere, onLost } = request
  const head = await source.read(0, Math.min(source.size, headSize), { signal })
  const format = from === undefined ? detectFormat(source, head, report) : requireFormat(from)
  const limits = { ...defaultLimits, ...request.limits }
  const lenient = request.lenient ?? false
  const context: ReadContext = { report, extents, signal, limits, lenient, openElsewhere, onLost }
  const read = async (): Promise<Opened> => {
    const implementation = await format.load()
    const opened = await implementation.read(withHead(source, head), context)
    const finder = damageFinder(format, opened, context)
    return finder ? { ...opened, model: { ...opened.model, damageFinders: [finder] } } : opened
  }
  return { format, context, read }
}

/** Opens a model: strictly, reading its index only. The model keeps the source open; `closeModel` closes it. */
export async function openModel(source: ByteSource, options: OpenOptions = {}): Promise<Model> {
  const report = strictReport(source.name, options.onFinding)
  const recognised = await recognise(source, { ...options, report })
  const { model } = await recognised.read()
  return model
}

/** How many bytes formats may look at to recognise a file. One request over a network brings this much anyway. */
export const headSize = 65_536

export const formatById = (id: string): Format | undefined => formats.find((format) => format.id === id)

/** The format that a name stands for, by the longest extension that fits. */
export function formatForOutput(name: string): Format | undefined {
  const lower = name.toLowerCase()
  let best: { format: Format; length: number } | undefined
  for (const format of formats) {
    for (const extension of format.extensions) {
      if (lower.endsWith(extension) && extension.length > (best?.length ?? 0))
        best = { format, length: extension.length }
    }
  }
  return best?.format
}

export function requireFormat(id: string): Format {
  const known = formats.map((format) => format.id).join(', ')
  return (
    formatById(id) ??
    failWith(openCodes['unknown-format-id'], { file: id, message: `there is no format "${id}"; known are ${known}` })
  )
}

/** Content decides; the name helps only where the content leaves it open, and never against it. */
export function detectFormat({ name, size }: ByteSource, head: Uint8Array, report: Report): Format {
  const answers = formats.map((format) => ({ format, answer: format.detect(head, name, size) }))
  const found = answers.find(({ answer }) => answer === 'yes')
  if (found) return found.format
  const wrong = commonMistake(head)
  if (wrong) report.fail(wrong, { offset: 0, path: 'file', message: wrong.text })
  const likely = answers.filter(({ answer }) => answer === 'maybe').map(({ format }) => format)
  const foreign = foreignKind(head, name, size, likely.length > 0)
  if (foreign) report.fail(openCodes['foreign-format'], { offset: 0, path: 'file', message: describeForeign(foreign) })
  // Of several, one that would say so whatever the file is called.
  const best = likely.find((format) => format.detect(head, '', size) === 'maybe') ?? likely[0]
  if (best) return best
  return report.fail(openCodes['unknown-format'], {
    offset: 0,
    path: 'file',
    message: openCodes['unknown-format'].text,
  })
}

/** The wrong contents that most often hide under a model's name. */
function commonMistake(head: Uint8Array): Code | undefined {
  if (head.byteLength === 0) return openCodes.empty
  const text = decodeLossy(head.subarray(0, 256)).trimStart().toLowerCase()
  if (text.startsWith('version https://git-lfs')) return openCodes['git-lfs-pointer']
  if (text.startsWith('<!doctype html') || text.startsWith('<html')) return openCodes.html
  return undefined
}
