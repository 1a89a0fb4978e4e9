import { dirname, isAbsolute, relative, sep } from 'node:path'
import {
  type ByteSource,
  failWith,
  groupExtents,
  isRemote,
  type MapRow,
  mapSource,
  openInput,
  TareError,
  usageCodes,
} from '../../../node.js'
import type { Context } from '../../context.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatBytes, formatInteger, formatOffset, formatSize, plural } from '../../console/format-values.js'
import { hexDump } from '../../hex-dump.js'
import { forEachInput, inputOptions, openOptions } from '../../input/run-inputs.js'
import type { Status } from '../../status.js'
import { type Column, formatTable, shorten } from '../../console/table.js'

interface MapFlags {
  readonly depth?: number
  readonly hex?: boolean
  readonly at?: number
}

interface Listed {
  readonly file: string
  readonly size: number
  readonly extents: readonly MapRow[]
  readonly overlaps: readonly MapRow[]
}

export default function map(context: Context, inputs: readonly string[], flags: MapFlags): Promise<Status> {
  const { console } = context
  return forEachInput(context, inputs, async (source, input) => {
    const result = await mapSource(source, openOptions(context))
    if (flags.at !== undefined && flags.at >= source.size)
      failWith(usageCodes.option, {
        file: input,
        message: `it has only ${source.size} bytes; ${flags.at} is beyond its end`,
      })
    const files = result.files
      .filter((file) => flags.at === undefined || file.file === source.name)
      .map((file) => choose(file, flags))
    const failed = result.findings.find((finding) => finding.severity === 'error')
    if (context.json) await console.json({ ...result, file: input, files })
    else {
      const reader = flags.hex ? await openInput(input, inputOptions(context)) : undefined
      try {
        for (const file of files) await describe(context, file, flags, reader && (await fileOf(reader, file.file)))
      } finally {
        await reader?.close()
      }
      if (failed) throw new TareError(failed)
    }
    return failed ? 1 : 0
  })
}

function choose(file: Listed, { at, depth }: MapFlags): Listed {
  const holds = (row: MapRow): boolean => at === undefined || (row.offset <= at && at < row.offset + row.length)
  const extents = depth === undefined ? file.extents : groupExtents(file.extents, depth)
  return { ...file, extents: extents.filter(holds), overlaps: file.overlaps.filter(holds) }
}

/** A file of the model, opened again through the main one; undefined for files that lie elsewhere. */
async function fileOf(main: ByteSource, name: string): Promise<ByteSource | undefined> {
  if (name === main.name) return main
  const path = pathBelow(main.name, name)
  if (path === undefined) return undefined
  return path.includes('/') ? main.below?.(path) : main.sibling?.(path)
}

/** The way from the directory of one file down to another, with slashes. */
function pathBelow(main: string, name: string): string | undefined {
  if (isRemote(main)) {
    const home = new URL('.', main).href
    return name.startsWith(home) ? decodeURIComponent(name.slice(home.length)) : undefined
  }
  const path = relative(dirname(main), name)
  return isRemote(name) || isAbsolute(path) || path.startsWith('..') ? undefined : path.replaceAll(sep, '/')
}

async function describe(
  { console }: Context,
  { file, size, extents, overlaps }: Listed,
  flags: MapFlags,
  bytes: ByteSource | undefined,
): Promise<void> {
  const { color } = console
  const valueWidth = console.isTerminal ? Math.max(20, console.width - 60) : 200
  const columns: Column[] = [
    { title: 'offset', align: 'right' },
    { title: 'length', align: 'right' },
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
      await console.print([line, ...(await hexDump(bytes, offset, length, flags.at))])
    }
  }
  if (overlaps.length > 0) {
    await console.print([
      color.yellow(`  ${plural(overlaps.length, 'range')} over bytes that are listed above:`),
      ...formatTable(columns, overlaps.map(cells)),
    ])
  }
  if (flags.at === undefined) await console.print([summaryOf(extents)])
}

function summaryOf(extents: readonly MapRow[]): string {
  const sums = new Map<string, number>()
  for (const { kind, length } of extents) sums.set(kind, (sums.get(kind) ?? 0) + length)
  return `  ${[...sums].map(([kind, length]) => `${formatSize(length)} ${kind}`).join(' · ')}`
}
