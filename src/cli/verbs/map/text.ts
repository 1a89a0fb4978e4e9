import type { ByteSource, MapRow } from '../../../kit-node.js'
import { integerCell, offsetCell } from '../../console/cells.js'
import type { Console } from '../../console/console.js'
import { chooseColumns, dataTable, wantsRecords } from '../../console/data-table.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatBytes, formatOffset, formatSize, plural } from '../../console/format-values.js'
import { type Cell, type Column, formatTable, rightColumn } from '../../console/table.js'
import { shorten } from '../../console/width.js'

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
  const columns: Column[] = [
    rightColumn('offset'),
    rightColumn('length'),
    { title: 'kind', paint: color.dim, spare: 1 },
    { title: 'field', cut: 'middle' },
    { title: 'value', paint: color.cyan, cut: 'end', spare: 2 },
  ]
  const cells = (row: MapRow): Cell[] => [
    offsetCell(row.offset),
    integerCell(row.length),
    row.kind,
    escapeText(row.path),
    row.value === undefined ? '' : shorten(escapeText(String(row.value)), maxValue),
  ]
  const table = { columns, rows: extents.map(cells) }
  if (wantsRecords(console)) return console.print(dataTable(table, console, file))
  await console.print([`${color.bold(escapeName(file))}  ${formatBytes(size)}`])
  const chosen = chooseColumns(table, console.tables.columns)
  const lines = formatTable(chosen.columns, chosen.rows, console.look)
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
      ...formatTable(columns, overlaps.map(cells), { width: console.look.width }),
    ])
  }
  if (at === undefined) await console.print([summaryOf(extents)])
}

const maxValue = 200

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
