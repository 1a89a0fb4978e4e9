// The loop over inputs that every verb shares. An input that fails is reported in its place, and the run goes on with the next one.
import {
  type ByteSource,
  closeModel,
  collectingReport,
  type Finding,
  formats,
  type Model,
  type OpenHint,
  onTempCount,
  openInput,
  openModel,
  recognise,
  requireFormat,
  TareError,
  verifyCodes,
} from '../../node.js'
import type { Context } from '../context.js'
import { formatFindingLine } from '../console/finding-line.js'
import { OutputError } from '../output/guarded-output.js'
import { openNamed } from './open-named.js'
import { describeFailure, followTemps, isClosedPipe } from '../console/process-events.js'
import { meansCannotRun, type Status, UsageError, worst } from '../status.js'

export type Work = (source: ByteSource, input: string) => Promise<Status>

/** Runs `work` for each input; the result is the worst status of all. */
export async function forEachInput(context: Context, inputs: readonly string[], work: Work): Promise<Status> {
  followTemps(onTempCount)
  if (context.from !== undefined) checkFormatId(context.from, '--from')
  if (inputs.filter((input) => input === '-').length > 1) throw new UsageError('standard input can be read only once')
  let status: Status = 0
  for (const input of inputs) status = worst(status, await runOne(context, input, work))
  return status
}

/** The same for verbs that need an open model. Remarks of the parser go to standard error. */
export function forEachModel(
  context: Context,
  inputs: readonly string[],
  work: (model: Model, input: string, source: ByteSource) => Promise<Status>,
): Promise<Status> {
  return forEachInput(context, inputs, async (source, input) => {
    const model = await openModel(source, {
      ...openOptions(context),
      onFinding: (finding) => remarkOn(context, finding),
    })
    const status = await work(model, input, source)
    // Files of a set that lie elsewhere are not closed with its index.
    await closeModel(model)
    return status
  })
}

export const inputOptions = (context: Context) => ({
  signal: context.signal,
  headers: context.headers,
  cache: context.cache,
  onFinding: (finding: Finding) => remarkOn(context, finding),
})

export const openOptions = (context: Context) => ({
  from: context.from,
  lenient: context.lenient,
  signal: context.signal,
  openElsewhere: (location: string, from: ByteSource, hint?: OpenHint) =>
    openNamed(location, from, { ...context, ...inputOptions(context) }, hint),
})

/** Of one kind, so many are shown beside what the command is about. */
const maxRemarks = 20
const remarks = new WeakMap<AbortSignal, Map<string, number>>()

function remarkOn({ json, console, signal }: Context, finding: Finding): void {
  if (json || finding.severity === 'note') return
  const counts = remarks.get(signal) ?? new Map<string, number>()
  remarks.set(signal, counts)
  const count = (counts.get(finding.code) ?? 0) + 1
  counts.set(finding.code, count)
  if (count <= maxRemarks) console.remark(formatFindingLine(finding, console.errorColor, true))
  else if (count === maxRemarks + 1)
    console.remark(`more of ${finding.code} are not shown; \`tare verify\` lists all of them`)
}

export function checkFormatId(id: string, option: string): void {
  if (formats.some((format) => format.id === id)) return
  try {
    requireFormat(id)
  } catch (error) {
    throw new UsageError(`${option}: ${(error as TareError).finding.message}`)
  }
}

async function runOne(context: Context, input: string, work: Work): Promise<Status> {
  let source: ByteSource | undefined
  context.console.progress.start()
  try {
    source = await openInput(input, inputOptions(context))
    return await work(source, input)
  } catch (error) {
    if (error instanceof UsageError || isClosedPipe(error)) throw error
    const format = source ? await guessFormat(source, context) : (context.from ?? null)
    await reportFailure(context, input, format, error)
    return statusOf(error)
  } finally {
    context.console.progress.finish()
    await source?.close()
  }
}

/** What the input would have been, for the report that it did not open. */
async function guessFormat(source: ByteSource, { from, signal }: Context): Promise<string | null> {
  try {
    const recognised = await recognise(source, { from, signal, report: collectingReport(source.name, []) })
    return recognised.format.id
  } catch {
    return from ?? null
  }
}

/** Says what went wrong with an input, as words or as a line of JSON. */
export async function reportFailure(
  context: Context,
  input: string,
  format: string | null,
  error: unknown,
): Promise<void> {
  const finding = error instanceof TareError ? error.finding : internalFinding(input, error)
  if (context.json) {
    const { code, message, offset = null, path = null } = finding
    const file = otherFile(finding, input)
    await context.console.json({ file: input, format, error: { code, message, offset, path, ...(file && { file }) } })
  } else context.console.complainOf(finding)
}

/** It may be the output that failed, or one of several files of a model; the offset is then in that file. Usage errors name options. */
const otherFile = ({ code, file }: Finding, input: string): string | undefined =>
  file === input || code.startsWith('usage/') ? undefined : file

function internalFinding(file: string, error: unknown): Finding {
  return { code: verifyCodes.internal.code, severity: 'error', file, message: describeFailure(error) }
}

/** An input that is not as it should be is the answer "no"; a wrong option or a mistake of ours means that there is no answer. */
export function statusOf(error: unknown): Status {
  if (!(error instanceof TareError)) return 2
  return error instanceof OutputError || meansCannotRun(error.code) ? 2 : 1
}
