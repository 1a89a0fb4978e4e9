import { type Finding, formatById, type VerifyResult } from '../../../kit-node.js'
import { formatFinding } from '../../console/console.js'
import { describeCut } from '../../console/cut.js'
import { escapeName } from '../../console/escape.js'
import { formatBytes, formatInteger, plural } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import type { VerifyOptions } from './index.js'
import type { SignedResult } from './signed.js'

export function* describeResult(
  result: VerifyResult,
  input: string,
  context: Context,
  options: VerifyOptions,
): Generator<string> {
  const { color } = context.console
  if (result.cut) yield `${color.red('error')} ${escapeName(result.cut.file)}: ${describeCut(result.cut)}`
  yield* describeFindings(result, input, context, options)
  const paint = result.verdict === 'errors' ? color.red : result.verdict === 'warnings' ? color.yellow : color.green
  const checked = describeChecked(result, context, options)
  yield `${color.bold(escapeName(input))}: ${paint(describeVerdict(result))} — ${checked}`
}

/** How many findings with one code are shown; fewer than twice as many are all shown. */
const shownOfEach = 3

function* describeFindings(
  result: VerifyResult,
  input: string,
  { console }: Context,
  { all }: VerifyOptions,
): Generator<string> {
  const { color } = console
  const groups = new Map<string, Finding[]>()
  for (const finding of result.findings) {
    if (finding.severity === 'note' && console.isQuiet) continue
    const key = all ? '' : finding.code
    const group = groups.get(key)
    if (group) group.push(finding)
    else groups.set(key, [finding])
  }
  for (const [code, findings] of groups) {
    const count = all || findings.length < 2 * shownOfEach ? findings.length : shownOfEach
    for (const finding of findings.slice(0, count))
      yield formatFinding(finding, color, shownFile(finding, result, input))
    if (findings.length > count)
      yield color.dim(`  … and ${formatInteger(findings.length - count)} more of ${code} (--all lists them)`)
  }
}

/** The file is named where it is not the input itself: one of a directory by its path in there. */
function shownFile({ file }: Finding, result: VerifyResult, input: string): string | undefined {
  const folder = input.replace(/[\\/]+$/, '')
  if (file.startsWith(folder) && /^[\\/]/.test(file.slice(folder.length))) return file.slice(folder.length + 1)
  return file === result.file ? undefined : file
}

function describeVerdict({ verdict, findings }: VerifyResult): string {
  const count = (severity: Finding['severity']): number =>
    findings.filter((finding) => finding.severity === severity).length
  const errors = count('error')
  const warnings = count('warning')
  if (verdict === 'ok') return 'ok'
  return [errors > 0 && plural(errors, 'error'), warnings > 0 && plural(warnings, 'warning')].filter(Boolean).join(', ')
}

/** A verdict is worth what was checked for it, so this is always said. */
function describeChecked(
  { format, variant, checked, signature }: VerifyResult & Partial<SignedResult>,
  { formatOptions }: Context,
  { quick, receipt, source }: VerifyOptions,
): string {
  // Some formats offer a depth between the two: all hashes of the index, none of the weights.
  const hasControl = formatById(format ?? '')?.options?.check?.some(({ name }) => name === 'control')
  if (signature) return describeSignature(signature)
  const parts = [
    `${format ?? 'unknown format'}${variant ? ` (${variant})` : ''}`,
    plural(checked.tensors, 'tensor'),
    `${formatBytes(checked.bytes)} checked`,
    (quick || (formatOptions.control && hasControl)) && 'weights not read',
    receipt !== undefined && `against the receipt${source === undefined ? '' : ' and its source'}`,
  ]
  return parts.filter(Boolean).join(', ')
}

function describeSignature({ signer, checked }: SignedResult['signature']): string {
  const files = `${plural(checked.files, 'file')}, ${formatBytes(checked.bytes)} compared`
  return signer === null ? 'not signed by anyone who is trusted' : `signed by ${escapeName(signer)}, ${files}`
}

/** The line behind the verdicts of many models. */
export function describeCounts(
  { ok, warnings, errors }: Record<VerifyResult['verdict'], number>,
  total: number,
): string {
  const unread = total - ok - warnings - errors
  const parts = [
    `${formatInteger(ok)} ok`,
    warnings > 0 && `${formatInteger(warnings)} with warnings`,
    errors > 0 && `${formatInteger(errors)} with errors`,
    unread > 0 && `${formatInteger(unread)} could not be read`,
  ]
  return `${plural(total, 'model')}: ${parts.filter(Boolean).join(', ')}`
}
