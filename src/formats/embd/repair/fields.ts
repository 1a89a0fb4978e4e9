// Repairs a sectioned file by replacing single fields and leaving all other bytes where they are: lengths and hashes that the file itself
// gives the right value for, a footer that is missing or has the wrong mark, bytes behind the end, and the three checksums.
import { type ByteSource, Cursor, encodeUtf8, streamRange } from '../../../bytes/index.js'
import { vocabularyOf } from '../../../content/vocabulary.js'
import { combineCrc32 } from '../../../digest/crc32.js'
import { fnv1a32 } from '../../../digest/hasher.js'
import { createHasher } from '../../../digest/index.js'
import { type ReadContext, type Repair, rangePayload, type Slot, type WriteOptions } from '../../../model/index.js'
import { type PatchPiece, patchedSource } from '../../../writing/patched-source.js'
import { hex, readCrc32 } from '../crc.js'
import * as structs from '../structs.js'
import { type Damaged, readIndexAgain } from './damaged.js'

const window = 1 << 21

/** All that may be wrong for this way of repairing. */
const repairable: ReadonlySet<string> = new Set([
  'header-crc',
  'data-crc',
  'file-crc',
  'name-hash',
  'metadata-total-size',
  'vocab-total-size',
  'footer-magic',
  'total-file-size',
])

interface Patch {
  readonly offset: number
  readonly bytes: Uint8Array
}

/** What the new file is made of, and what to say about it. */
interface Draft {
  readonly patches: Patch[]
  readonly repaired: string[]
  readonly lost: string[]
  /** Where the footer begins in the new file. */
  end: number
  /** The footer that the file has, for the checksums that were stored. */
  footer: structs.Footer | undefined
}

export async function patchSectioned(damaged: Damaged, options: WriteOptions): Promise<Repair | undefined> {
  const { source, errors, context } = damaged
  if ([...errors].some((code) => !repairable.has(code))) return undefined
  const bytes = await source.read(0, structs.header.size, { signal: context.signal })
  const header = structs.header.read(new Cursor(bytes, context.report))
  const draft: Draft = { patches: [], repaired: [], lost: [], end: 0, footer: undefined }
  if (!(await repairEnd(draft, header, damaged))) return undefined
  if (!repairTotals(draft, header, damaged)) return undefined
  if (errors.has('name-hash')) await repairHashes(draft, header, source, context)
  return finish(draft, header, damaged, options)
}

/** Finds where the footer belongs: where the header says, or else at the end of the file as it is. */
async function repairEnd(draft: Draft, header: structs.Header, { source, errors, context }: Damaged): Promise<boolean> {
  const stated = Number(header.totalFileSize)
  const sections = Number(header.tensorDataSize) + header.tensorDataOffset
  const atStated = await readFooter(stated - structs.footer.size, source, context)
  const atEnd = await readFooter(source.size - structs.footer.size, source, context)
  if (stated === source.size) {
    draft.end = stated - structs.footer.size
    draft.footer = atStated?.footer
    if (errors.has('footer-magic')) draft.repaired.push('footer.magic_end is "DBME" again')
    return draft.footer !== undefined
  }
  if (stated < source.size && atStated?.isMarked) {
    draft.end = stated - structs.footer.size
    draft.footer = atStated.footer
    draft.repaired.push(`the file ends at ${stated} again, where its header says`)
    draft.lost.push(`${source.size - stated} bytes that followed the end of the file`)
    return true
  }
  if (atEnd?.isMarked && source.size - structs.footer.size >= sections) {
    draft.end = source.size - structs.footer.size
    draft.footer = atEnd.footer
    const size = new Uint8Array(8)
    new DataView(size.buffer).setBigUint64(0, BigInt(source.size), true)
    draft.patches.push({ offset: structs.header.offsetOf('totalFileSize'), bytes: size })
    draft.repaired.push(`header.total_file_size is ${source.size}, where the footer ends; it was ${stated}`)
    return true
  }
  // Only the footer is missing, or a part of it.
  const end = stated - structs.footer.size
  const others = Math.max(header.metadataOffset, header.vocabOffset, header.tensorIndexOffset)
  if (stated > source.size && end <= source.size && sections <= end && others < header.tensorDataOffset) {
    draft.end = end
    draft.repaired.push('the footer, which was cut off, was written again')
    return true
  }
  return false
}

async function readFooter(
  offset: number,
  source: ByteSource,
  { report, signal }: ReadContext,
): Promise<{ footer: structs.Footer; isMarked: boolean } | undefined> {
  if (offset < structs.header.size || offset + structs.footer.size > source.size) return undefined
  const bytes = await source.read(offset, structs.footer.size, { signal })
  const footer = structs.footer.read(new Cursor(bytes, report, { base: offset }))
  return { footer, isMarked: structs.magicEnd.every((byte, i) => footer.magicEnd[i] === byte) }
}

/** Sizes that repeat what the entries themselves say. A vocabulary that does not fill its section has something else wrong with it. */
function repairTotals(draft: Draft, header: structs.Header, { file, errors }: Damaged): boolean {
  const put = (section: string, offset: number, size: number): void => {
    draft.patches.push({ offset: offset + 4, bytes: structs.u32Bytes(size) })
    draft.repaired.push(`${section}.total_size is ${size}, the size of its entries`)
  }
  if (errors.has('metadata-total-size'))
    put('metadata', header.metadataOffset, header.metadataSize - structs.metadataHeader.size)
  if (!errors.has('vocab-total-size')) return true
  const tokens = vocabularyOf(file.model.parts)?.tokens
  if (!tokens) return false
  const size = tokens.reduce((sum, token) => sum + 2 + token.byteLength, 0)
  const fixed = [structs.vocabHeader.size, structs.vocabHeader.size + structs.specialBlock.size]
  if (!fixed.some((each) => each + size === header.vocabSize)) return false
  put('vocab', header.vocabOffset, size)
  return true
}

async function repairHashes(
  draft: Draft,
  header: structs.Header,
  source: ByteSource,
  context: ReadContext,
): Promise<void> {
  const { descriptors, index } = await readIndexAgain(header, source, context)
  const view = new DataView(descriptors.buffer, descriptors.byteOffset, descriptors.byteLength)
  for (const { number, tensor } of index) {
    const hash = fnv1a32(encodeUtf8(tensor.name))
    const at = number * structs.descriptor.size + structs.descriptor.offsetOf('nameHash')
    if (view.getUint32(at, true) === hash) continue
    draft.patches.push({ offset: header.tensorIndexOffset + at, bytes: structs.u32Bytes(hash) })
    draft.repaired.push(`tensors[${number}].name_hash is ${hex(hash)}, the hash of ${JSON.stringify(tensor.name)}`)
  }
}

/** Computes the checksums of the new file and compares them with those that were stored. */
async function finish(
  draft: Draft,
  header: structs.Header,
  { source, errors, context }: Damaged,
  options: WriteOptions,
): Promise<Repair> {
  const { patches, repaired, lost, end, footer } = draft
  const { signal } = context
  const hasSums = (header.flags & structs.flag.checksums) !== 0
  let [dataSum, fileSum] = [footer?.dataChecksum ?? 0, footer?.fileChecksum ?? 0]
  if (hasSums) {
    const headerSum = await crcOf(patched(source, patches, end), 0, structs.checkedHeader, signal)
    if (headerSum !== header.headerChecksum) {
      patches.push({ offset: structs.checkedHeader, bytes: structs.u32Bytes(headerSum) })
      repaired.push(`header.header_checksum is ${hex(headerSum)}; it was ${hex(header.headerChecksum)}`)
    }
    const sums = await sumSections(patched(source, patches, end), header, end, signal)
    describeSums(draft, sums, errors)
    dataSum = sums.data
    fileSum = sums.file
  }
  const last = structs.footer.write({
    dataChecksum: dataSum,
    fileChecksum: fileSum,
    magicEnd: structs.magicEnd,
    reserved: footer?.reserved ?? 0,
  })
  const slots: Slot[] = [
    { kind: 'payload', path: 'repaired', payload: rangePayload(patched(source, patches, end), 0, end) },
    { kind: 'bytes', path: 'footer', bytes: last },
  ]
  return { layout: { files: [{ name: options.name, slots }] }, repaired, lost }
}

/** The file up to its footer with the patches, which do not overlap, in place of what it has there. */
function patched(source: ByteSource, patches: readonly Patch[], end: number): ByteSource {
  const pieces: PatchPiece[] = []
  let at = 0
  for (const { offset, bytes } of patches.toSorted((a, b) => a.offset - b.offset)) {
    pieces.push({ offset: at, length: offset - at }, bytes)
    at = offset + bytes.byteLength
  }
  return patchedSource(source, [...pieces, { offset: at, length: end - at }])
}

async function crcOf(source: ByteSource, start: number, end: number, signal?: AbortSignal): Promise<number> {
  const hasher = await createHasher('crc32')
  for await (const chunk of streamRange({ source, offset: start, length: end - start }, window, signal))
    hasher.update(chunk)
  return readCrc32(hasher.digest())
}

interface Sums {
  readonly data: number
  readonly file: number
}

async function sumSections(
  file: ByteSource,
  header: structs.Header,
  end: number,
  signal: AbortSignal | undefined,
): Promise<Sums> {
  const [start, stop] = [header.tensorDataOffset, header.tensorDataOffset + Number(header.tensorDataSize)]
  const before = await crcOf(file, 0, start, signal)
  const data = await crcOf(file, start, stop, signal)
  const after = await crcOf(file, stop, end, signal)
  return { data, file: combineCrc32(combineCrc32(before, data, stop - start), after, end - stop) }
}

/**
 * Which of the stored checksums match tells what they prove. The one of the file may match the new bytes, or it matched the old ones: then
 * the file is as it was written, and what was repaired are mistakes of its writer.
 */
function describeSums({ footer, repaired, lost }: Draft, { data, file }: Sums, errors: ReadonlySet<string>): void {
  const isDataProven = footer?.dataChecksum === data
  const isFileProven = footer?.fileChecksum === file
  if (!isDataProven && footer) repaired.push(`footer.data_checksum is ${hex(data)}; it was ${hex(footer.dataChecksum)}`)
  if (!isFileProven && footer) repaired.push(`footer.file_checksum is ${hex(file)}; it was ${hex(footer.fileChecksum)}`)
  if (isFileProven) repaired.push('the stored checksum of the file confirms that this is what was written')
  else if (footer && !errors.has('file-crc')) repaired.push('the stored checksum of the file confirmed all other bytes')
  else if (isDataProven) {
    lost.push(
      'the proof for everything but the weights: the new checksum covers header, metadata, vocabulary and index as they are now, damaged or not',
    )
  } else {
    lost.push(
      'the proof for the weights: the new checksums cover all bytes as they are now; if they were damaged they still are, and it no longer shows',
    )
  }
}
