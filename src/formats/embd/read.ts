// Two layouts share the magic "EMBD" and the version 1, and nothing in the first eight bytes tells them apart. A sectioned file shows
// itself by a header checksum that matches, or by a footer and a stated size that fit; a stream file by records that end exactly where
// the file does. The order of the questions matters: a valid sectioned file can look like a stream, and a stream can end in a token
// that looks like a footer.
import { type ByteSource, Cursor, compareBytes, toSafe } from '../../bytes/index.js'
import { vocabularyPart } from '../../content/vocabulary.js'
import { strictReport } from '../../errors/index.js'
import type { Model, Opened, ReadContext } from '../../model/index.js'
import { checkSectioned, checkStream } from './check.js'
import { codes } from './codes.js'
import { crc32 } from './crc.js'
import { reportOrientation } from './orientation.js'
import { layoutPart } from './parts.js'
import { readSectioned } from './sectioned/read.js'
import { type Walk, walkStream } from './stream/walk.js'
import { checkedHeader, descriptor, flag, footer, type Header, header, magic, magicEnd } from './structs.js'

export async function read(source: ByteSource, context: ReadContext): Promise<Opened> {
  const found = await findLayout(source, context)
  if (found.layout === 'sectioned') {
    const file = await readSectioned(source, context)
    return { model: file.model, check: (checking) => checkSectioned(file, checking) }
  }
  if (found.layout === 'neither') return refuse(found.walk, found.signs, source, context)
  const model = readStream(found.walk, source, context)
  return { model, check: (checking) => checkStream(model, checking) }
}

type Found =
  | { readonly layout: 'sectioned' }
  | { readonly layout: 'stream'; readonly walk: Walk }
  | { readonly layout: 'neither'; readonly walk: Walk; readonly signs: Signs }

/** Which layout a file has, going by its content; a stream is walked through to find out. */
export async function findLayout(source: ByteSource, context: ReadContext): Promise<Found> {
  const { report } = context
  const head = await source.read(0, Math.min(source.size, header.size), { signal: context.signal })
  const shared = Math.min(magic.byteLength, head.byteLength)
  if (compareBytes(head.subarray(0, shared), magic.subarray(0, shared)) !== 0) {
    report.fail(codes.magic, { offset: 0, length: shared, path: 'header.magic', message: '"EMBD" was expected' })
  }
  if (shared < magic.byteLength) {
    report.fail(codes['truncated-header'], {
      offset: 0,
      path: 'header',
      message: `the file has ${source.size} bytes`,
      needs: header.size,
    })
  }
  const signs = await signsOfSections(head, source, context)
  if (signs.checksum || (signs.footer && signs.size)) return { layout: 'sectioned' }
  const walk = await walkStream(source, context)
  if (walk.end === source.size) return { layout: 'stream', walk }
  if (signs.footer || (signs.size && signs.offset) || signs.header) return { layout: 'sectioned' }
  return walk.fatal ? { layout: 'neither', walk, signs } : { layout: 'stream', walk }
}

interface Signs {
  readonly checksum: boolean
  readonly footer: boolean
  readonly size: boolean
  /** The metadata begin behind the header. */
  readonly offset: boolean
  /** All offsets and sizes of the header fit together: the file was cut, and had no checksums. */
  readonly header: boolean
}

async function signsOfSections(head: Uint8Array, source: ByteSource, { signal }: ReadContext): Promise<Signs> {
  if (head.byteLength < header.size)
    return { checksum: false, footer: false, size: false, offset: false, header: false }
  const fields = header.read(new Cursor(head, strictReport(source.name)))
  const hasRoom = source.size >= header.size + footer.size
  const tailAt = source.size - footer.size + footer.offsetOf('magicEnd')
  const tail = hasRoom ? await source.read(tailAt, magicEnd.byteLength, { signal }) : undefined
  return {
    checksum: (await crc32(head.subarray(0, checkedHeader))) === fields.headerChecksum,
    footer: tail !== undefined && compareBytes(tail, magicEnd) === 0,
    size: fields.totalFileSize === BigInt(source.size),
    offset: fields.metadataOffset >= header.size,
    header: fitsTogether(fields),
  }
}

function fitsTogether(fields: Header): boolean {
  const size = toSafe(fields.totalFileSize)
  const dataSize = toSafe(fields.tensorDataSize)
  if (size === undefined || dataSize === undefined) return false
  const fits = (offset: number, length: number): boolean =>
    offset >= header.size && offset + length <= size - footer.size
  return (
    fields.flags < 2 * flag.compressed &&
    fields.reserved === 0 &&
    fits(fields.metadataOffset, fields.metadataSize) &&
    fits(fields.tensorIndexOffset, fields.tensorIndexCount * descriptor.size) &&
    fits(fields.tensorDataOffset, dataSize)
  )
}

function readStream(walk: Walk, source: ByteSource, context: ReadContext): Model {
  const { report, extents } = context
  for (const extent of walk.extents) extents?.add(extent)
  for (const { code, details } of walk.problems) report.report(code, details)
  if (walk.end! < source.size) {
    const length = source.size - walk.end!
    const message = `${length} bytes follow the last token`
    report.report(codes['trailing-bytes'], { offset: walk.end!, length, path: 'trailing', message })
  }
  const model = streamModel(walk, source)
  return { ...model, parts: [...model.parts, ...reportOrientation(walk.tensors, 'stream', context)] }
}

/** The model that a walk has found, as far as it got. */
export const streamModel = ({ tensors, vocabulary }: Walk, source: ByteSource): Model => ({
  format: 'embd',
  version: '1',
  variant: 'stream',
  metadata: new Map(),
  tensors,
  parts: [layoutPart({ layout: 'stream' }), ...(vocabulary ? [vocabularyPart(vocabulary)] : [])],
  files: [source],
})

/** Neither layout: says why not, for both. A file that can only be a stream is blamed for what is wrong with a stream. */
function refuse(walk: Walk, signs: Signs, source: ByteSource, { report, extents }: ReadContext): never {
  const { code, details } = walk.fatal!
  const why = whyNotSectioned(signs, source)
  if (!walk.isPlausible) {
    const place = `${details.path} at ${details.offset}`
    const message = `not a stream file because of ${place}: ${details.message}; not a sectioned file because ${why}`
    const where = { offset: 4, path: 'header' }
    if (source.size < header.size)
      return report.fail(codes['truncated-header'], { ...where, message, needs: header.size })
    return report.fail(codes['unknown-layout'], { ...where, message })
  }
  for (const extent of walk.extents) extents?.add(extent)
  for (const problem of walk.problems) report.report(problem.code, problem.details)
  const message = `${details.message} (read as a stream file; it is not a sectioned file, because ${why})`
  return report.fail(code, { ...details, message })
}

/** Only asked when none of the signs is enough. */
function whyNotSectioned(signs: Signs, source: ByteSource): string {
  if (source.size < header.size) return `${source.size} bytes are fewer than a header takes`
  const size = signs.size ? 'its metadata would begin inside the header' : 'it states a size other than its own'
  return `its header checksum does not match, it does not end in a footer, and ${size}`
}
