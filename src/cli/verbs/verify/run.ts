import { closeModel, type Finding, type FormatOption, formatById, type VerifyResult, verifySource } from '../../../node.js'
import type { Context } from '../../context.js'
import { escapeName } from '../../console/escape.js'
import { formatFindingLine } from '../../console/finding-line.js'
import { formatOptionValues } from '../../format-facts.js'
import { formatBytes, plural } from '../../console/format-values.js'
import { poolOf } from '../../pool-of.js'
import { forEachInput, openOptions } from '../../input/run-inputs.js'
import { meansCannotRun, type Status, UsageError } from '../../status.js'

interface VerifyFlags {
  readonly quick?: boolean
  readonly control?: boolean
  readonly strict?: boolean
  readonly profile?: string
  readonly receipt?: string
  readonly source?: readonly string[]
}

export default async function verify(context: Context, inputs: readonly string[], flags: VerifyFlags): Promise<Status> {
  const { console } = context
  if (flags.receipt !== undefined && flags.quick) throw new UsageError('--receipt reads the weights; leave out --quick')
  if (flags.source !== undefined && flags.receipt === undefined) throw new UsageError('--source goes with --receipt')
  const receipts = flags.receipt === undefined ? undefined : await import('../../output/receipt.js')
  const receipt = await receipts?.readReceipt(flags.receipt!)
  const pool = poolOf(context)
  return forEachInput(context, inputs, async (source, input) => {
    const { quick, strict } = flags
    const receiptSource = flags.source && (await receipts?.openReceiptSource(context, flags.source))
    const extra = formatOptionValues('check', { ...flags })
    const result = await verifySource(source, {
      ...openOptions(context),
      quick,
      strict,
      extra,
      profile: flags.profile,
      receipt,
      receiptSource,
      pool,
      onProgress: console.progress.update,
    }).finally(() => receiptSource && closeModel(receiptSource))
    if (context.json) await console.json({ ...result, file: input })
    else await console.print(describe(result, input, context, flags))
    return statusOf(result)
  })
}

/** A file that could not be read to its end was not judged. */
function statusOf({ verdict, findings }: VerifyResult): Status {
  if (findings.some(({ code, severity }) => severity === 'error' && meansCannotRun(code))) return 2
  return verdict === 'errors' ? 1 : 0
}

function* describe(result: VerifyResult, input: string, { console }: Context, flags: VerifyFlags): Generator<string> {
  const { color } = console
  for (const finding of result.findings) yield formatFindingLine(finding, color, finding.file !== result.file)
  const paint = result.verdict === 'errors' ? color.red : result.verdict === 'warnings' ? color.yellow : color.green
  yield `${color.bold(escapeName(input))}: ${paint(verdictOf(result))} — ${checkedOf(result, flags)}`
}

function verdictOf({ verdict, findings }: VerifyResult): string {
  const count = (severity: Finding['severity']): number =>
    findings.filter((finding) => finding.severity === severity).length
  const errors = count('error')
  const warnings = count('warning')
  if (verdict === 'ok') return 'ok'
  return [errors > 0 && plural(errors, 'error'), warnings > 0 && plural(warnings, 'warning')].filter(Boolean).join(', ')
}

/** The depth that some formats offer: all hashes of the index, none of the weights. */
const isControl = ({ name }: FormatOption): boolean => name === 'control'

/** A verdict is worth what it rests on, so this is said in every case. */
function checkedOf(
  { format, variant, checked }: VerifyResult,
  { quick, control, receipt, source }: VerifyFlags,
): string {
  const { bytes, tensors } = checked
  const isControlled = control && formatById(format ?? '')?.options?.check?.some(isControl)
  return `${format ?? 'unknown format'}${variant ? ` (${variant})` : ''}, ${plural(tensors, 'tensor')}, ${formatBytes(bytes)} checked${quick || isControlled ? ', weights not read' : ''}${receipt === undefined ? '' : `, against the receipt${source === undefined ? '' : ' and its source'}`}`
}
