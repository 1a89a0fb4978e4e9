import type { Finding } from '../../node.js'
import { escapeText } from './escape.js'
import type { Paint } from './table.js'

interface Colors {
  readonly red: Paint
  readonly yellow: Paint
  readonly cyan: Paint
  readonly dim: Paint
}

/** `error safetensors/overlap @ 0x1c8 tensors["a"].data_offsets: …` */
export function formatFindingLine(finding: Finding, color: Colors, withFile: boolean): string {
  const paint = finding.severity === 'error' ? color.red : finding.severity === 'warning' ? color.yellow : color.cyan
  const file = withFile ? ` ${escapeText(finding.file)}` : ''
  const at = finding.offset === undefined ? '' : ` @ 0x${finding.offset.toString(16)}`
  const path = finding.path ? ` ${escapeText(finding.path)}` : ''
  return `${paint(finding.severity)} ${finding.code}${color.dim(`${file}${at}`)}${path}: ${escapeText(finding.message)}`
}
