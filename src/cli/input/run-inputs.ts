// The loop over inputs that every verb shares. An input that fails is reported in its place, and the run goes on with the next one.
import {
  type ByteSource,
  closeModel,
  collectingReport,
  type Finding,
  type Format,
  findDamage,
  isRemote,
  type Model,
  type OpenHint,
  openInput,
  openModel,
  recognise,
  refuseDamage,
  requireFormat,
  TareError,
  verifyCodes,
} from '../../kit-node.js'
import { plural } from '../console/format-values.js'
import { describeFailure, isClosedPipe } from '../console/process-events.js'
import type { Context } from '../context.js'
import { meansCannotRun, type Status, UsageError } from '../status.js'
import { openNamed } from './open-named.js'
import type { Tensors } from './tensors.js'

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

// Verbs that pass weights on first compare them with the checksums that the file has for them.

/** Where only some tensors are read, only the checksums that cover them count. */
export const namesOf = (tensors: Tensors): ReadonlySet<string> => new Set(tensors.map(({ name }) => name))

/** What is damaged, where that is allowed; otherwise it is an error. `only` names the tensors that will be read, all without it. */
export async function checkDamage(
  context: Context,
  model: Model,
  { allowDamage }: { readonly allowDamage?: boolean },
  only?: ReadonlySet<string>,
): Promise<readonly Finding[]> {
  const damage = await findIn(context, model, only)
  if (!allowDamage) refuseDamage(damage, model)
  else remarkDamage(context, damage)
  return damage
}

/** For verbs that only show something: damage is remarked on, and the answer is still given. */
export async function warnOfDamage(context: Context, model: Model, tensors: Tensors): Promise<readonly Finding[]> {
  const damage = await findIn(context, model, namesOf(tensors))
  remarkDamage(context, damage)
  return damage
}

function findIn(context: Context, model: Model, only?: ReadonlySet<string>): Promise<readonly Finding[]> {
  const { signal, console } = context
  return findDamage(model, { only, signal, pool: context.pool, onProgress: console.progress.update })
}

interface AllowedDamage {
  /** Filled while the work is done. */
  readonly damage: readonly Finding[]
  /** Absent: damage is not allowed. */
  readonly onDamage?: (damage: readonly Finding[]) => void
}

/** For work that looks for damage itself. */
export function damageAllowed(context: Context, isAllowed: boolean | undefined): AllowedDamage {
  const damage: Finding[] = []
  if (!isAllowed) return { damage }
  const onDamage = (found: readonly Finding[]): void => {
    for (const finding of found) damage.push(finding)
    remarkDamage(context, found)
  }
  return { damage, onDamage }
}

const maxShown = 5

function remarkDamage({ console, json }: Context, damage: readonly Finding[]): void {
  if (damage.length === 0 || json) return
  for (const finding of damage.slice(0, maxShown)) console.remarkOn(finding)
  const more = damage.length > maxShown ? ` (${damage.length - maxShown} more are not shown)` : ''
  console.remark(`warning: the input is damaged in ${plural(damage.length, 'place')}${more}; continuing anyway`)
}

/** For JSON: a member only where something is damaged. */
export const damageJson = (damage: readonly Finding[]): { readonly damage?: readonly Finding[] } =>
  damage.length === 0 ? {} : { damage }
