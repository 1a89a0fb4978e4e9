// Verifying reads a file with a report that collects every problem, then runs the checks that need the payloads.
import type { ByteSource } from '../bytes/index.js'
import { fileKind } from '../content/companions.js'
import type { Receipt } from '../convert/receipt.js'
import { callerWord, collectingReport, type Finding, type Report, TareError, verifyCodes } from '../errors/index.js'
import { type Cut, type OpenOptions, type Recognised, readCut, recognise, saysCut } from '../formats/index.js'
import { closeModel, type Model, type Opened, type OptionValues, totalSize } from '../model/index.js'
import { indexSize } from '../model/model.js'
import { restoreStowed } from '../stow/index.js'
import { minThreadBytes } from '../threads/costs.js'
import type { WorkerPool } from '../threads/index.js'
import { checkProfile } from './profile.js'
import { requireProfile } from './profiles/index.js'

export interface VerifyOptions {
  readonly from?: string | undefined
  /** Structure only; no payload is read. */
  readonly quick?: boolean | undefined
  /** Warnings count as errors. */
  readonly strict?: boolean | undefined
  readonly lenient?: boolean | undefined
  /** The name of a profile that the model must match. */
  readonly profile?: string | undefined
  /** The receipt of the conversion that wrote the model, and its source if that is to be checked too. */
  readonly receipt?: Receipt | undefined
  readonly receiptSource?: Model | undefined
  /** Values of the options that the format declares for checking. */
  readonly extra?: OptionValues | undefined
  /** Opens files of a set that are at other addresses. */
  readonly openElsewhere?: OpenOptions['openElsewhere']
  readonly signal?: AbortSignal | undefined
  /** Threads that large work can be spread over. */
  readonly pool?: WorkerPool | undefined
  /** Called as bytes are checked; `done` and `total` are bytes. */
  readonly onProgress?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

/** The verdict on a file, and what it is based on. */
export interface VerifyResult {
  readonly file: string
  readonly format: string | null
  /** Which of the format's layouts the file uses, if there are several. */
  readonly variant?: string
  readonly verdict: 'ok' | 'warnings' | 'errors'
  readonly findings: readonly Finding[]
  /** Set if the file ends before it should. */
  readonly cut?: Cut
  /** What the verdict is based on: bytes that were checked, and tensors whose place and size were checked. */
  readonly checked: { readonly bytes: number; readonly tensors: number }
}

/** Formats call a depth that leaves the weights unread `control`. Elsewhere the value has no effect but to start threads later. */
const isLong = ({ format }: Recognised, { size }: ByteSource, { quick, extra }: VerifyOptions): boolean =>
  quick !== true && extra?.control !== true && format.capabilities.checksums === 'all' && size >= minThreadBytes.verify

/** Closes the source, whatever it finds. */
export async function verifySource(source: ByteSource, options: VerifyOptions = {}): Promise<VerifyResult> {
  const profile = options.profile === undefined ? undefined : requireProfile(options.profile)
  const findings: Finding[] = []
  const report = collectingReport(source.name, findings)
  let recognised: Recognised | undefined
  let model: Model | undefined
  let cut: Cut | undefined
  let bytes = 0
  try {
    recognised = await recognise(source, { ...options, report })
    if (isLong(recognised, source, options)) options.pool?.prepare()
    const opened = await recognised.read()
    model = opened.model
    // Companion files were not read; everything else beside the weights was parsed.
    bytes = indexSize(
      model,
      model.parts.filter(({ kind }) => kind === fileKind),
    )
    if (!options.quick) for (const each of model.flaws ?? []) findings.push(each)
    checkNames(model, report)
    if (profile) for (const each of checkProfile(await withStowed(model), profile)) findings.push(each)
    await checkPayloads(recognised, opened, options, (count) => {
      bytes += count
    })
    if (options.receipt) {
      const { checkReceipt } = await import('./receipt.js') // loaded on demand: it is rarely needed and compares whole models
      const { receipt, receiptSource: source, pool, signal, onProgress } = options
      for (const finding of await checkReceipt(model, receipt, { source, pool, signal, onProgress }))
        findings.push(finding)
      bytes = totalSize(model)
    }
    await source.assertUnchanged?.()
  } catch (error) {
    noteFailure(error, findings, report, options.signal)
  } finally {
    if (findings.some(saysCut)) cut = await measureCut(source, findings, options)
    await (model ? closeModel(model) : source.close())
  }
  return {
    file: source.name,
    format: recognised?.format.id ?? null,
    ...(model?.variant !== undefined && { variant: model.variant }),
    verdict: verdictOf(findings, options.strict ?? false),
    findings,
    ...(cut && { cut }),
    checked: { bytes, tensors: model?.tensors.length ?? 0 },
  }
}

/** The answer does not depend on it, so that an error here is none of the file's. */
async function measureCut(
  source: ByteSource,
  findings: readonly Finding[],
  options: VerifyOptions,
): Promise<Cut | undefined> {
  try {
    return (await readCut(source, findings, options))?.cut
  } catch {
    return undefined
  }
}

/** With the tensors, entries and parts that the container carries for another format, as well as its own. */
async function withStowed(model: Model): Promise<Model> {
  const { model: restored } = await restoreStowed(model)
  return { ...restored, metadata: new Map([...restored.metadata, ...model.metadata]) }
}

async function checkPayloads(
  { format, context }: Recognised,
  { model, check }: Opened,
  options: VerifyOptions,
  count: (bytes: number) => void,
): Promise<void> {
  if (format.capabilities.checksums === 'none') {
    const message = `${format.title} stores no checksums; compare with ${callerWord('`tare hash`', 'hash()')} of a copy that you trust`
    context.report.report(verifyCodes['no-checksums'], { message })
  }
  if (options.quick || !check) return
  const total = totalSize(model)
  let done = 0
  await check({
    ...context,
    extra: options.extra ?? {},
    pool: options.pool,
    checked(bytes) {
      count(bytes)
      done += bytes
      options.onProgress?.({ done, total, path: model.files[0]?.name ?? '' })
    },
  })
}

function noteFailure(error: unknown, findings: Finding[], report: Report, signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw error
  if (!(error instanceof TareError)) {
    const message = `tare failed on this file: ${error instanceof Error ? error.message : String(error)}`
    report.report(verifyCodes.internal, { offset: 0, path: 'file', message })
  } else if (!findings.includes(error.finding)) findings.push(error.finding) // thrown by a source, not by the parser
}

/** What the findings amount to; with `strict`, warnings count as errors. */
export function verdictOf(findings: readonly Finding[], strict: boolean): VerifyResult['verdict'] {
  if (findings.some((finding) => finding.severity === 'error')) return 'errors'
  if (!findings.some((finding) => finding.severity === 'warning')) return 'ok'
  return strict ? 'errors' : 'warnings'
}

/** Characters that make a name deceptive: C0, DEL, C1, bidirectional controls, zero-width characters and the byte order mark. */
const deceptiveCharacters = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/

function checkNames(model: Model, report: Report): void {
  const complain = (name: string, what: string, offset: number | undefined): void => {
    const message = `the ${what} ${JSON.stringify(name)} holds characters that do not show`
    report.report(verifyCodes['name-control'], {
      offset: offset ?? 0,
      path: `${what}[${JSON.stringify(name)}]`,
      message,
    })
  }
  for (const tensor of model.tensors) {
    if (deceptiveCharacters.test(tensor.name)) complain(tensor.name, 'tensor', tensor.data?.origin?.offset)
  }
  for (const key of model.metadata.keys()) if (deceptiveCharacters.test(key)) complain(key, 'metadata', undefined)
}
