// Two layouts share the magic "EMBD" and the version 1, and nothing in the first eight bytes tells them apart. A sectioned file shows
// itself by a header checksum that matches, or by a footer and a stated size that fit; a stream file by records that end exactly where
// the file does. The order of the questions matters: a valid sectioned file can look like a stream, and a stream can end in a token
// that looks like a footer.
import { type ByteSource, compareBytes, toSafe } from '../../bytes/index.js'
import { vocabularyPart } from '../../content/vocabulary.js'
import type { Model, ReadContext } from '../../model/index.js'
import { codes } from './codes.js'
import { crc32 } from './crc.js'
import { reportOrientation } from './orientation.js'
import { layoutPart } from './parts.js'
import { readSectioned } from './sectioned/read.js'
import { type Walk, walkStream } from './stream/walk.js'
import { checkedHeader, descriptor, flag, footer, header, magic, magicEnd } from './structs.js'

export async function read(source: ByteSource, context: ReadContext): Promise<Model> {
  const found = await findLayout(source, context)
  if (found.layout === 'sectioned') return readSectioned(source, context)
  return found.layout === 'stream'
    ? readStream(found.walk, source, context)
    : refuse(found.walk, found.signs, source, context)
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
    report.fail(codes['truncated-header'], { offset: 0, path: 'header', message: `the file has ${source.size} bytes` })
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
  const none: Signs = { checksum: false, footer: false, size: false, offset: false, header: false }
  if (head.byteLength < header.size) return none
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  const checksum = (await crc32(head.subarray(0, checkedHeader))) === view.getUint32(checkedHeader, true)
  const stated = view.getBigUint64(header.offsetOf('totalFileSize'), true)
  const size = stated === BigInt(source.size)
  const offset = view.getUint32(header.offsetOf('metadataOffset'), true) >= header.size
  if (source.size < header.size + footer.size) return { ...none, checksum, size, offset, header: fitsTogether(view) }
  const tail = await source.read(source.size - footer.size + footer.offsetOf('magicEnd'), magicEnd.byteLength, {
    signal,
  })
  return { checksum, footer: compareBytes(tail, magicEnd) === 0, size, offset, header: fitsTogether(view) }
}

function fitsTogether(view: DataView): boolean {
  const u32 = (field: Parameters<typeof header.offsetOf>[0]): number => view.getUint32(header.offsetOf(field), true)
  const size = toSafe(view.getBigUint64(header.offsetOf('totalFileSize'), true))
  const dataSize = toSafe(view.getBigUint64(header.offsetOf('tensorDataSize'), true))
  if (size === undefined || dataSize === undefined) return false
  const fits = (offset: number, length: number): boolean =>
    offset >= header.size && offset + length <= size - footer.size
  return (
    u32('flags') < 2 * flag.compressed &&
    u32('reserved') === 0 &&
    fits(u32('metadataOffset'), u32('metadataSize')) &&
    fits(u32('tensorIndexOffset'), u32('tensorIndexCount') * descriptor.size) &&
    fits(u32('tensorDataOffset'), dataSize)
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
  const vocabulary = walk.vocabulary ? [vocabularyPart(walk.vocabulary)] : []
  const orientation = reportOrientation(walk.tensors, 'stream', context)
  return {
    format: 'embd',
    version: '1',
    variant: 'stream',
    metadata: new Map(),
    tensors: walk.tensors,
    parts: [layoutPart({ layout: 'stream' }), ...vocabulary, ...orientation],
    files: [source],
  }
}

/** Neither layout: says why not, for both. A file that can only be a stream is blamed for what is wrong with a stream. */
function refuse(walk: Walk, signs: Signs, source: ByteSource, { report, extents }: ReadContext): never {
  const { code, details } = walk.fatal!
  const why = whyNotSectioned(signs, source)
  if (!walk.isPlausible) {
    const place = `${details.path} at ${details.offset}`
    const message = `not a stream file because of ${place}: ${details.message}; not a sectioned file because ${why}`
    const kind = source.size < header.size ? 'truncated-header' : 'unknown-layout'
    return report.fail(codes[kind], { offset: 4, path: 'header', message })
  }
  for (const extent of walk.extents) extents?.add(extent)
  for (const problem of walk.problems) report.report(problem.code, problem.details)
  const message = `${details.message} (read as a stream file; it is no sectioned file, because ${why})`
  return report.fail(code, { ...details, message })
}

/** Only asked when none of the signs is enough. */
function whyNotSectioned(signs: Signs, source: ByteSource): string {
  if (source.size < header.size) return `${source.size} bytes are fewer than a header takes`
  const size = signs.size ? 'its metadata would begin inside the header' : 'it states another size than it has'
  return `its header checksum does not match, it does not end in a footer, and ${size}`
}
