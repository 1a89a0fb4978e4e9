import type { ByteSource, MapRow } from '../../../kit-node.js'
import type { Console } from '../../console/console.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatBytes, formatInteger, formatOffset, formatSize, plural } from '../../console/format-values.js'
import { type Column, formatTable, rightColumn, shorten } from '../../console/table.js'

export interface MappedFile {
  readonly file: string
  readonly size: number
  readonly extents: readonly MapRow[]
  readonly overlaps: readonly MapRow[]
}

/** The rows of one file, each followed by its first bytes where there is a source to read them from, and the sums of each kind. */
export async function printFile(
  console: Console,
  { file, size, extents, overlaps }: MappedFile,
  at: number | undefined,
  bytes: ByteSource | undefined,
): Promise<void> {
  const { color } = console
  const valueWidth = console.isTerminal ? Math.max(20, console.width - 60) : 200
  const columns: Column[] = [
    rightColumn('offset'),
    rightColumn('length'),
    { title: 'kind', paint: color.dim },
    { title: 'field' },
    { title: 'value', paint: color.cyan },
  ]
  const cells = (row: MapRow): string[] => [
    formatOffset(row.offset),
    formatInteger(row.length),
    row.kind,
    escapeText(row.path),
    row.value === undefined ? '' : shorten(escapeText(String(row.value)), valueWidth),
  ]
  await console.print([`${color.bold(escapeName(file))}  ${formatBytes(size)}`])
  const lines = formatTable(columns, extents.map(cells), { head: color.underline })
  if (!bytes) await console.print(lines)
  else {
    const [head, ...body] = [...lines]
    if (head !== undefined) await console.print([head])
    for (const [index, line] of body.entries()) {
      const { offset, length } = extents[index]!
      await console.print([line, ...(await hexDump(bytes, offset, length, at))])
    }
  }
  if (overlaps.length > 0) {
    await console.print([
      color.yellow(`  ${plural(overlaps.length, 'range')} over bytes that are listed above:`),
      ...formatTable(columns, overlaps.map(cells)),
    ])
  }
  if (at === undefined) await console.print([summaryOf(extents)])
}

function summaryOf(extents: readonly MapRow[]): string {
  const sums = new Map<string, number>()
  for (const { kind, length } of extents) sums.set(kind, (sums.get(kind) ?? 0) + length)
  return `  ${[...sums].map(([kind, length]) => `${formatSize(length)} ${kind}`).join(' · ')}`
}

const bytesPerLine = 16
const maxLines = 4

/** The first bytes of a range, or those from the line that holds `at`, sixteen to a line with their ASCII. */
export async function hexDump(source: ByteSource, offset: number, length: number, at = offset): Promise<string[]> {
  const start = at - ((at - offset) % bytesPerLine)
  const bytes = await source.read(start, Math.min(bytesPerLine * maxLines, offset + length - start))
  const lines: string[] = []
  for (let line = 0; line < bytes.byteLength; line += bytesPerLine)
    lines.push(`    ${formatOffset(start + line)}  ${dumpLine(bytes.subarray(line, line + bytesPerLine))}`)
  const rest = offset + length - start - bytes.byteLength
  if (rest > 0) lines.push(`    … ${plural(rest, 'more byte')}`)
  return lines
}

function dumpLine(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ')
  const ascii = Array.from(bytes, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('')
  return `${hex.padEnd(bytesPerLine * 3 - 1)}  ${ascii}`
}
