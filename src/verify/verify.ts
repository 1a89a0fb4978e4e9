// Verifying is reading with the other attitude: everything that is wrong is collected, and then the checks that need the payloads run.
import type { ByteSource } from '../bytes/index.js'
import { fileKind } from '../content/companions.js'
import type { Receipt } from '../convert/receipt.js'
import { collectingReport, type Finding, type Report, TareError, verifyCodes } from '../errors/index.js'
import { type OpenOptions, type Recognised, recognise } from '../formats/index.js'
import { closeModel, type Model, type Opened, type OptionValues, totalSize } from '../model/index.js'
import { restoreStowed } from '../stow/index.js'
import { minThreadBytes } from '../threads/costs.js'
import type { WorkerPool } from '../threads/index.js'
import { indexSize } from '../writing/index-size.js'
import { checkNames } from './check-names.js'
import { checkProfile } from './profile.js'
import { requireProfile } from './profiles/index.js'

export interface VerifyOptions {
  readonly from?: string | undefined
  /** Structure only: no payload is read. */
  readonly quick?: boolean | undefined
  /** Warnings count as errors. */
  readonly strict?: boolean | undefined
  readonly lenient?: boolean | undefined
  /** The name of a profile that the model must agree with. */
  readonly profile?: string | undefined
  /** What a conversion said about the model when it wrote it, and the model that it was made from, where that is to be checked too. */
  readonly receipt?: Receipt | undefined
  readonly receiptSource?: Model | undefined
  /** Values of the options that the format declares for checking. */
  readonly extra?: OptionValues | undefined
  /** Opens files of a set that lie at addresses of their own. */
  readonly openElsewhere?: OpenOptions['openElsewhere']
  readonly signal?: AbortSignal | undefined
  /** Threads that large work can be spread over. */
  readonly pool?: WorkerPool | undefined
  readonly onProgress?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

export interface VerifyResult {
  readonly file: string
  readonly format: string | null
  /** Which of the format's layouts it has, where there is more than one. */
  readonly variant?: string
  readonly verdict: 'ok' | 'warnings' | 'errors'
  readonly findings: readonly Finding[]
  /** How much the verdict rests on: bytes that a check looked at, and tensors whose place and size were checked. */
  readonly checked: { readonly bytes: number; readonly tensors: number }
}

/** `control` is how formats call a depth that leaves the weights unread; where it means nothing, threads just start later. */
const isLong = ({ format }: Recognised, { size }: ByteSource, { quick, extra }: VerifyOptions): boolean =>
  quick !== true && extra?.control !== true && format.capabilities.checksums === 'all' && size >= minThreadBytes.verify

/** Closes the source when it is done, whatever it finds. */
export async function verifySource(source: ByteSource, options: VerifyOptions = {}): Promise<VerifyResult> {
  const profile = options.profile === undefined ? undefined : requireProfile(options.profile)
  const findings: Finding[] = []
  const report = collectingReport(source.name, findings)
  let recognised: Recognised | undefined
  let model: Model | undefined
  let bytes = 0
  try {
    recognised = await recognise(source, { ...options, report })
    if (isLong(recognised, source, options)) options.pool?.prepare()
    const opened = await recognised.read()
    model = opened.model
    // What merely comes along was not read; everything else beside the weights was parsed.
    bytes = indexSize(
      model,
      model.parts.filter(({ kind }) => kind === fileKind),
    )
    if (!options.quick) findings.push(...(model.flaws ?? []))
    checkNames(model, report)
    if (profile) findings.push(...checkProfile(await asMeant(model), profile))
    await checkPayloads(recognised, opened, options, (count) => {
      bytes += count
    })
    if (options.receipt) {
      const { checkReceipt } = await import('./receipt.js') // seldom asked for, and it compares whole models
      const { receipt, receiptSource: source, pool, signal, onProgress } = options
      for (const finding of await checkReceipt(model, receipt, { source, pool, signal, onProgress }))
        findings.push(finding)
      bytes = totalSize(model)
    }
    await source.assertUnchanged?.()
  } catch (error) {
    noteFailure(error, findings, report, options.signal)
  } finally {
    await (model ? closeModel(model) : source.close())
  }
  return {
    file: source.name,
    format: recognised?.format.id ?? null,
    ...(model?.variant !== undefined && { variant: model.variant }),
    verdict: verdictOf(findings, options.strict ?? false),
    findings,
    checked: { bytes, tensors: model?.tensors.length ?? 0 },
  }
}

/** With the tensors, entries and parts that the container carries for another format; what it states itself counts as well. */
async function asMeant(model: Model): Promise<Model> {
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
    const message = `${format.title} stores no checksums; compare with \`tare hash\` of a copy that you trust`
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

function verdictOf(findings: readonly Finding[], strict: boolean): VerifyResult['verdict'] {
  if (findings.some((finding) => finding.severity === 'error')) return 'errors'
  if (!findings.some((finding) => finding.severity === 'warning')) return 'ok'
  return strict ? 'errors' : 'warnings'
}
