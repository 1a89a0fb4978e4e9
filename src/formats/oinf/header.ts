// Reads and checks the header: where the sections are, and whether they can be there.
import { type ByteSource, Cursor, decodeUtf8 } from '../../bytes/index.js'
import { neededSize } from '../../errors/index.js'
import type { ReadContext } from '../../model/index.js'
import { codes, type OinfCode } from './codes.js'
import { alignment, fileHeader, headerEnd, magic } from './structs.js'

export type TableName = 'sizevars' | 'metadata' | 'tensors'

interface Section {
  readonly count: number
  readonly offset: number
  /** The start of the next section. */
  readonly end: number
}

export interface Header {
  readonly version: 1 | 2
  readonly tables: Readonly<Record<TableName, Section>>
  readonly offsetData: number
  /** Where the header and the tables end: at the data section, unless that claims to begin inside the header. */
  readonly indexEnd: number
  /** Where values must end: what the header states, but never more than there is. */
  readonly end: number
}

export async function readHeader(source: ByteSource, context: ReadContext): Promise<Header> {
  const { report } = context
  const head = await source.read(0, Math.min(source.size, headerEnd), { signal: context.signal })
  if (!magic.every((byte, i) => head[i] === byte)) {
    const isText = /^[\s\x20-\x7e]{4,}$/.test(decodeUtf8(head.subarray(0, 32)) ?? '')
    const hint = isText ? '; it is text, as files of this name were before the binary format' : ''
    report.fail(codes.magic, { offset: 0, length: 5, path: 'header.magic', message: `no OINF file${hint}` })
  }
  if (source.size < fileHeader.size) {
    const message = `the header takes ${fileHeader.size} bytes, the file has ${source.size}`
    report.fail(codes.truncated, { offset: source.size, path: 'header', needs: fileHeader.size, message })
  }
  const cursor = new Cursor(head, report, { extents: context.extents, path: ['header'] })
  const fields = fileHeader.read(cursor)
  type Key = keyof typeof fields & string
  const details = (key: Key, message: string) => ({
    offset: fileHeader.offsetOf(key),
    path: `header.${fileHeader.nameOf(key)}`,
    message,
  })
  const complain = (code: OinfCode, key: Key, message: string): void =>
    report.report(codes[code], details(key, message))

  const { version } = fields
  if (version !== 1 && version !== 2)
    return report.fail(codes.version, details('version', `version ${version}; 1 and 2 are known`))
  if (fields.flags !== 0) complain('header-flags', 'flags', `0 was expected, 0x${fields.flags.toString(16)} found`)
  if (fields.reserved !== 0) complain('header-reserved', 'reserved', `0 was expected, ${fields.reserved} found`)
  if (fields.fileSize !== BigInt(source.size))
    report.report(codes['file-size'], {
      ...details('fileSize', `${fields.fileSize} bytes are stated, the file has ${source.size}`),
      ...neededSize(fields.fileSize),
    })
  else if (source.size % alignment !== 0)
    complain('file-size-alignment', 'fileSize', `${source.size} is not a multiple of ${alignment}`)

  const positions = ['offsetSizevars', 'offsetMetadata', 'offsetTensors', 'offsetData', 'fileSize'] as const
  for (const [i, key] of positions.entries()) {
    const next = positions[i + 1]
    if (key !== 'fileSize' && fields[key] % BigInt(alignment) !== 0n)
      report.fail(codes['section-alignment'], details(key, `${fields[key]} is not a multiple of ${alignment}`))
    if (next && fields[key] > fields[next])
      report.fail(codes['section-order'], details(next, `${fields[next]} comes before ${fields[key]}`))
  }
  if (fields.offsetData > BigInt(source.size))
    report.fail(codes['section-order'], details('offsetData', `${fields.offsetData} is beyond the end of the file`))

  const section = (count: number, key: Key, start: bigint, end: bigint): Section => {
    if (start < BigInt(headerEnd)) {
      if (count > 0)
        report.fail(codes['section-in-header'], details(key, `the table starts at ${start}, the header ends at 72`))
      complain('section-empty-offset', key, `${start} is inside the header`)
    }
    return { count, offset: Number(start), end: Number(end) }
  }
  const { offsetSizevars, offsetMetadata, offsetTensors, offsetData } = fields
  return {
    version,
    tables: {
      sizevars: section(fields.nSizevars, 'offsetSizevars', offsetSizevars, offsetMetadata),
      metadata: section(fields.nMetadata, 'offsetMetadata', offsetMetadata, offsetTensors),
      tensors: section(fields.nTensors, 'offsetTensors', offsetTensors, offsetData),
    },
    offsetData: Number(offsetData),
    indexEnd: Math.max(Number(offsetData), Math.min(headerEnd, source.size)),
    end: fields.fileSize < BigInt(source.size) ? Number(fields.fileSize) : source.size,
  }
}
