// The loop over inputs that every verb shares. An input that fails is reported in its place, and the run goes on with the next one.
import { stat } from 'node:fs/promises'
import {
  type ByteSource,
  closeModel,
  collectingReport,
  type Finding,
  type Format,
  findingOf,
  findModels,
  ioCodes,
  isPipeline,
  isRemote,
  type Model,
  type OpenHint,
  openInput,
  openModel,
  recognise,
  requireFormat,
  TareError,
  verifyCodes,
} from '../../kit-node.js'
import { describeFailure, isClosedPipe } from '../console/process-events.js'
import type { Context } from '../context.js'
import { meansCannotRun, type Status, UsageError } from '../status.js'
import { openNamed } from './open-named.js'

/** Runs `work` for each input; the result is the worst status of all. */
export async function forEachInput(
  context: Context,
  inputs: readonly string[],
  work: (source: ByteSource, input: string) => Promise<Status>,
): Promise<Status> {
  if (context.from !== undefined) formatNamed(context.from, '--from')
  checkStdin(inputs)
  if (inputs.length > 1) context.console.tables = { ...context.console.tables, several: true }
  let worst: Status = 0
  for (const input of inputs) {
    const status = await runOne(context, input, (source) => work(source, input))
    if (status > worst) worst = status
  }
  return worst
}

/** The same for verbs that need an open model. `wanted` names the tensors that will be read, if that is known. */
export function forEachModel(
  context: Context,
  inputs: readonly string[],
  work: (model: Model, input: string, source: ByteSource) => Promise<Status>,
  wanted?: ReadonlySet<string>,
): Promise<Status> {
  return forEachInput(context, inputs, async (source, input) => {
    const model = await openModel(source, {
      ...modelOptions(context),
      wanted,
      isSparing: wanted !== undefined && isRemote(input),
    })
    const status = await work(model, input, source)
    // Files of a set that lie elsewhere are not closed with its index.
    await closeModel(model)
    return status
  })
}

async function runOne(context: Context, input: string, work: (source: ByteSource) => Promise<Status>): Promise<Status> {
  let source: ByteSource | undefined
  context.console.progress.start()
  try {
    source = await openFor(context, input)
    return await work(source)
  } catch (error) {
    if (error instanceof UsageError || isClosedPipe(error)) throw error
    const format = source ? await guessFormat(source, context) : (context.from ?? null)
    return await reportFailure(context, input, format, error)
  } finally {
    context.console.progress.finish()
    await source?.close()
  }
}

export interface Opened {
  readonly source: ByteSource
  readonly model: Model
}

/** Further models that a flag names, all of them or none. `--from` is about the input alone. The caller closes them. */
export async function openModels(context: Context, inputs: readonly string[]): Promise<Opened[]> {
  const sources: ByteSource[] = []
  try {
    const opened: Opened[] = []
    for (const input of inputs) {
      const source = await openFor(context, input)
      sources.push(source)
      opened.push({ source, model: await openModel(source, { ...openOptions(context), from: undefined }) })
    }
    return opened
  } catch (error) {
    await Promise.all(sources.map((source) => source.close()))
    throw error
  }
}

async function openFor(context: Context, input: string): Promise<ByteSource> {
  const source = await openInput(input, inputOptions(context))
  return context.share?.(source, input) ?? source
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

/** Remarks of the parser go to standard error. */
export const modelOptions = (context: Context) => ({
  ...openOptions(context),
  onFinding: (finding: Finding) => remarkOn(context, finding),
})

/** How many remarks with one code are shown. */
const maxRemarks = 20
const remarks = new WeakMap<AbortSignal, Map<string, number>>()

function remarkOn({ json, console, signal }: Context, finding: Finding): void {
  if (json || finding.severity === 'note') return
  const counts = remarks.get(signal) ?? new Map<string, number>()
  remarks.set(signal, counts)
  const count = (counts.get(finding.code) ?? 0) + 1
  counts.set(finding.code, count)
  if (count <= maxRemarks) console.remarkOn(finding)
  else if (count === maxRemarks + 1)
    console.remark(`further ${finding.code} findings are not shown; \`tare verify\` lists them all`)
}

export function checkStdin(inputs: readonly (string | undefined)[]): void {
  if (inputs.filter((input) => input === '-').length > 1) throw new UsageError('standard input can be read only once')
}

export function formatNamed(id: string, flag: string): Format {
  try {
    return requireFormat(id)
  } catch (error) {
    throw new UsageError(`${flag}: ${(error as TareError).finding.message}`)
  }
}

/** Throws when an input is no longer what it was when it was opened: what was read of it then belongs to no state of the file. */
export async function assertUnchanged(inputs: readonly ByteSource[]): Promise<void> {
  for (const input of inputs) await input.assertUnchanged?.()
}

/** The format of an input that did not open, for the report. */
async function guessFormat(source: ByteSource, { from, signal }: Context): Promise<string | null> {
  try {
    const recognised = await recognise(source, { from, signal, report: collectingReport(source.name, []) })
    return recognised.format.id
  } catch {
    return from ?? null
  }
}

/** The output cannot be written, as opposed to an input that cannot be read. */
export class OutputError extends TareError {}

/**
 * Says what went wrong with an input, as words or as a line of JSON. An input that is not as it should be is the answer "no"; after a wrong
 * flag, an output that cannot be written or a bug there is no answer.
 */
export async function reportFailure(
  { json, console }: Context,
  input: string,
  format: string | null,
  error: unknown,
): Promise<Status> {
  const isKnown = error instanceof TareError
  const finding = isKnown ? error.finding : internalFinding(input, error)
  if (json) {
    const { code, message, offset = null, path = null } = finding
    const file = otherFile(finding, input)
    await console.json({ file: input, format, error: { code, message, offset, path, ...(file && { file }) } })
  } else console.complainOf(finding)
  return !isKnown || error instanceof OutputError || meansCannotRun(error.code) ? 2 : 1
}

/** The output may have failed, or one of several files of a model; the offset is then in that file. Usage errors name flags. */
const otherFile = ({ code, file }: Finding, input: string): string | undefined =>
  file === input || code.startsWith('usage/') ? undefined : file

function internalFinding(file: string, error: unknown): Finding {
  return { code: verifyCodes.internal.code, severity: 'error', file, message: describeFailure(error) }
}

// Directories that stand for several models: all of them with --recursive, and pipelines, which have a folder for each of their models.

export interface Expanded {
  readonly inputs: readonly string[]
  /** Some input stands for several models. */
  readonly isSeveral: boolean
  /** Of directories that could not be listed or hold no model. */
  readonly status: Status
}

/** The inputs, with such directories replaced by the models in them. */
export async function expandInputs(
  context: Context,
  inputs: readonly string[],
  { recursive }: { readonly recursive?: boolean },
): Promise<Expanded> {
  const found: string[] = []
  let isSeveral = false
  let status: Status = 0
  for (const input of inputs) {
    if (!(await isDirectory(input)) || !(recursive || (await isPipeline(input)))) {
      found.push(input)
      continue
    }
    isSeveral = true
    try {
      const models = await findModels(input)
      if (models.length === 0)
        throw new TareError(findingOf(ioCodes['empty-directory'], { message: 'there is no model below it' }, input))
      for (const model of models) found.push(model)
    } catch (error) {
      status = await reportFailure(context, input, null, error)
    }
  }
  return { inputs: found, isSeveral, status }
}

async function isDirectory(input: string): Promise<boolean> {
  if (input === '-' || isRemote(input)) return false
  return (await stat(input).catch(() => undefined))?.isDirectory() ?? false
}

export const worse = (a: Status, b: Status): Status => (a > b ? a : b)
