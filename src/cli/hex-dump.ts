import type { ByteSource } from '../node.js'
import { formatOffset, plural } from './console/format-values.js'

const perLine = 16
const shownLines = 4

/** The first bytes of a range, or those from the line that holds `at`, sixteen to a line with their ASCII. */
export async function hexDump(source: ByteSource, offset: number, length: number, at = offset): Promise<string[]> {
  const start = at - ((at - offset) % perLine)
  const bytes = await source.read(start, Math.min(perLine * shownLines, offset + length - start))
  const lines: string[] = []
  for (let line = 0; line < bytes.byteLength; line += perLine)
    lines.push(`    ${formatOffset(start + line)}  ${dumpLine(bytes.subarray(line, line + perLine))}`)
  const rest = offset + length - start - bytes.byteLength
  if (rest > 0) lines.push(`    … ${plural(rest, 'more byte')}`)
  return lines
}

function dumpLine(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ')
  const ascii = Array.from(bytes, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('')
  return `${hex.padEnd(perLine * 3 - 1)}  ${ascii}`
}
