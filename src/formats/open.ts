import { type ByteSource, type ExtentRecorder, withHead } from '../bytes/index.js'
import { type Finding, type Report, strictReport } from '../errors/index.js'
import { defaultLimits, type Format, type Limits, type Model, type Opened, type ReadContext } from '../model/index.js'
import { detectFormat, headSize, requireFormat } from './detect.js'
import { damageFinder } from './find-damage.js'

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
