import { type Finding, formatById, type VerifyResult } from '../../../kit-node.js'
import { formatFinding } from '../../console/console.js'
import { escapeName } from '../../console/escape.js'
import { formatBytes, plural } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import type { VerifyOptions } from './index.js'

export function* describeResult(
  result: VerifyResult,
  input: string,
  context: Context,
  options: VerifyOptions,
): Generator<string> {
  const { color } = context.console
  for (const finding of result.findings) yield formatFinding(finding, color, finding.file !== result.file)
  const paint = result.verdict === 'errors' ? color.red : result.verdict === 'warnings' ? color.yellow : color.green
  const checked = describeChecked(result, context, options)
  yield `${color.bold(escapeName(input))}: ${paint(describeVerdict(result))} — ${checked}`
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
  { format, variant, checked }: VerifyResult,
  { formatOptions }: Context,
  { quick, receipt, source }: VerifyOptions,
): string {
  // Some formats offer a depth between the two: all hashes of the index, none of the weights.
  const hasControl = formatById(format ?? '')?.options?.check?.some(({ name }) => name === 'control')
  const parts = [
    `${format ?? 'unknown format'}${variant ? ` (${variant})` : ''}`,
    plural(checked.tensors, 'tensor'),
    `${formatBytes(checked.bytes)} checked`,
    (quick || (formatOptions.control && hasControl)) && 'weights not read',
    receipt !== undefined && `against the receipt${source === undefined ? '' : ' and its source'}`,
  ]
  return parts.filter(Boolean).join(', ')
}
