// The control hash (IHSH): a BLAKE3 digest of header, table of contents and string table, with the hash field of every entry counted
// as zeros. So it can be computed before the chunks are hashed, and it does not protect those hashes. The chunk is a MessagePack map
// {algo, covered_ranges: [[0, E]], digest}, padded with zeros to 256 bytes; E is the offset of the first chunk.
import { type ByteSource, gaps, inOrder, type Range } from '../../../bytes/index.js'
import { createHasher } from '../../../digest/index.js'
import { type Report, TareError } from '../../../errors/index.js'
import type { ReadContext } from '../../../model/index.js'
import { decodeMsgpack, type MsgpackNode, MsgpackWriter } from '../../../wire/msgpack/index.js'
import { codes } from '../codes.js'
import { type ChunkContent, placedReport, sameBytes } from '../control/chunk.js'
import type { Control } from '../control/control.js'
import { digestSize, hashOffset, header, tocSize } from '../structs.js'

export const controlHashSize = 256
const algorithm = 'blake3-256'
const maxRanges = 1000
/** More than a map with as many ranges takes. */
const maxBytes = 65_536

export function encodeControlHash(end: number, digest: Uint8Array): Uint8Array {
  const writer = new MsgpackWriter()
  writer.mapHeader(3)
  writer.str('algo')
  writer.str(algorithm)
  writer.str('covered_ranges')
  writer.arrayHeader(1)
  writer.arrayHeader(2)
  writer.int(0)
  writer.int(end)
  writer.str('digest')
  writer.bin(digest)
  const bytes = new Uint8Array(controlHashSize)
  bytes.set(writer.finish())
  return bytes
}

export async function checkControlHash(
  content: ChunkContent,
  control: Control,
  source: ByteSource,
  context: ReadContext,
): Promise<void> {
  const { report } = context
  const stated = parseControlHash(content, source, report)
  if (!stated) return
  const { ranges, digest } = stated
  const matches = async (some: readonly Range[]): Promise<boolean> =>
    sameBytes(await digestCovered(source, some, control, context), digest)
  const isRight = await matches(ranges)
  const isRightForFirst = !isRight && ranges.length > 1 && (await matches(ranges.slice(0, 1)))
  const place = { offset: content.chunk.offset, path: `chunks[${content.chunk.index}]` }
  if (isRight || isRightForFirst) reportCoverage(isRight ? ranges : ranges.slice(0, 1), control, place, report)
  if (ranges.length > 1 && (isRight || isRightForFirst)) {
    const message = `${ranges.length} ranges are covered; the digest is that of ${isRight ? 'all of them' : 'the first alone'}`
    report.report(codes['ihsh-ambiguous'], { ...place, path: `${place.path}.covered_ranges`, message })
  } else if (!isRight) {
    const message = `bytes 0 to ${ranges[0]!.end} do not have the digest that the control hash states`
    report.report(codes['ihsh-digest'], { ...place, path: `${place.path}.digest`, message })
  }
}

/** A digest that leaves out a part of the control region is right about the rest only. */
function reportCoverage(
  ranges: readonly Range[],
  { tocOffset, entryCount, stringsOffset, stringsLength }: Control,
  place: { readonly offset: number; readonly path: string },
  report: Report,
): void {
  const regions: readonly (Range & { readonly what: string })[] = [
    { what: 'the header', start: 0, end: header.size },
    { what: 'the table of contents', start: tocOffset, end: tocOffset + tocSize(entryCount) },
    { what: 'the string table', start: stringsOffset, end: stringsOffset + stringsLength },
  ]
  const ordered = inOrder(ranges)
  const isCovered = ({ start, end }: Range): boolean => start === end || gaps(ordered, start, end).next().done === true
  const left = regions.filter((region) => !isCovered(region)).map(({ what }) => what)
  if (left.length === 0) return
  const message = `the control hash does not cover all of ${left.join(' and ')}`
  report.report(codes['ihsh-coverage'], { ...place, path: `${place.path}.covered_ranges`, message })
}

interface StatedHash {
  readonly ranges: readonly Range[]
  readonly digest: Uint8Array
}

function parseControlHash(content: ChunkContent, source: ByteSource, report: Report): StatedHash | undefined {
  const path = `chunks[${content.chunk.index}]`
  const placed = placedReport(report, content.chunk, codes['ihsh-msgpack'])
  const complain = (code: keyof typeof codes, field: string, message: string): undefined => {
    placed.report(codes[code], { offset: 0, path: `${path}.${field}`, message })
  }
  let root: MsgpackNode
  try {
    // Zeros follow the map on purpose.
    root = decodeMsgpack(content.bytes.subarray(0, maxBytes), placed, { path, allowTrailing: true })
  } catch (error) {
    if (report.strict || !(error instanceof TareError)) throw error
    return undefined
  }
  if (!(root instanceof Map)) return complain('ihsh-msgpack', 'root', 'a map was expected')
  const algo = root.get('algo')
  const digest = root.get('digest')
  if (algo !== algorithm)
    return complain('ihsh-algo', 'algo', `${JSON.stringify(String(algo))}, only ${algorithm} is known`)
  const ranges = rangesOf(root.get('covered_ranges'), source.size)
  if (!ranges) {
    const message = 'a list of [start, end] inside the file was expected, the first from 0 on'
    return complain('ihsh-ranges', 'covered_ranges', message)
  }
  if (!(digest instanceof Uint8Array) || digest.byteLength !== digestSize) {
    return complain('ihsh-digest-type', 'digest', `a byte string of ${digestSize} bytes was expected`)
  }
  return { ranges, digest }
}

function rangesOf(node: MsgpackNode | undefined, size: number): Range[] | undefined {
  if (!Array.isArray(node) || node.length === 0 || node.length > maxRanges) return undefined
  const ranges: Range[] = []
  let total = 0
  for (const item of node) {
    const [start, end] = Array.isArray(item) && item.length === 2 ? item : []
    if (typeof start !== 'number' || typeof end !== 'number' || !Number.isInteger(start) || !Number.isInteger(end))
      return undefined
    if (start < 0 || start > end || end > size) return undefined
    total += end - start
    ranges.push({ start, end })
  }
  // No honest file covers itself more than twice, and hashing takes time.
  return ranges[0]!.start === 0 && ranges[0]!.end > 0 && total <= 2 * size ? ranges : undefined
}

const window = 1 << 20

async function digestCovered(
  source: ByteSource,
  ranges: readonly Range[],
  control: Control,
  { signal }: ReadContext,
): Promise<Uint8Array> {
  const hasher = await createHasher('blake3')
  for (const { start, end } of ranges) {
    for (let at = start; at < end; at += window) {
      const length = Math.min(window, end - at)
      const bytes = (await source.read(at, length, { signal })).slice()
      blankHashes(bytes, at, control)
      hasher.update(bytes)
    }
  }
  return hasher.digest()
}

/** Sets the hash field of every entry to zero, as far as it lies in these bytes, which begin at `offset`. */
export function blankHashes(bytes: Uint8Array, offset: number, { tocOffset, entryCount }: Control): void {
  const stride = hashOffset(0, 1) - hashOffset(0, 0)
  const first = Math.max(0, Math.floor((offset - hashOffset(tocOffset, 0) - digestSize) / stride))
  for (let i = first; i < entryCount; i++) {
    const at = hashOffset(tocOffset, i) - offset
    if (at >= bytes.byteLength) return
    bytes.fill(0, Math.max(0, at), Math.max(0, at + digestSize))
  }
}
