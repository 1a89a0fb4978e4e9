// Writing the sectioned layout, where the document leaves a choice in one fixed way: sections in the order of its drawing, the special
// ids before the tokens with an absolute offset, data last, padding only where alignment wants it.
import { alignUp, encodeUtf8, joinBytes } from '../../../bytes/index.js'
import { type SpecialIds, specialNames, type Vocabulary, vocabularyOf } from '../../../content/vocabulary.js'
import { type Code, failWith, writeCodes } from '../../../errors/index.js'
import {
  type DigestSlot,
  dataSlot,
  type FileLayout,
  type Metadata,
  type Model,
  type Slot,
  slotsMadeBy,
  type Tensor,
  type WriteOptions,
} from '../../../model/index.js'
import { codes } from '../codes.js'
import { crc32 } from '../crc.js'
import { mannerOf, repeatedKind } from '../parts.js'
import * as structs from '../structs.js'
import { inFileOrder } from '../tensor-order.js'
import { metadataToWrite } from './derive-metadata.js'
import { planIndex } from './write-index.js'

export async function layoutSectioned(model: Model, options: WriteOptions): Promise<FileLayout> {
  const tensors = inFileOrder(model)
  const file = options.name
  if (tensors.length === 0) refuse('write-limit', file, 'tensors', 'a sectioned file needs at least one tensor')
  const { align, checksums } = manner(model, options)
  const metadata = metadataSection(await metadataToWrite(model, options), repeatedEntries(model), file)
  const metadataOffset = structs.header.size
  const vocabulary = vocabularyOf(model.parts)
  const vocabOffset = metadataOffset + metadata.byteLength
  const vocab = vocabulary ? vocabSection(vocabulary, vocabOffset, file) : new Uint8Array(0)
  const indexOffset = vocabOffset + vocab.byteLength
  const index = planIndex(tensors, align, file)
  const dataOffset = alignUp(indexOffset + index.bytes.byteLength, align)
  const footerOffset = dataOffset + index.dataSize
  if (dataOffset > 0xffffffff)
    refuse('write-limit', file, 'header', `the data would begin at ${dataOffset}, beyond 4 GiB`)
  const flags =
    (vocabulary ? structs.flag.vocabulary : 0) +
    (align % structs.alignment === 0 ? structs.flag.aligned : 0) +
    (checksums ? structs.flag.checksums : 0)
  const header = structs.header.write({
    magic: structs.magic,
    versionMajor: 1,
    versionMinor: 0,
    flags,
    metadataOffset,
    metadataSize: metadata.byteLength,
    vocabOffset: vocabulary ? vocabOffset : 0,
    vocabSize: vocab.byteLength,
    tensorIndexOffset: indexOffset,
    tensorIndexCount: tensors.length,
    tensorDataOffset: dataOffset,
    tensorDataSize: BigInt(index.dataSize),
    totalFileSize: BigInt(footerOffset + structs.footer.size),
    headerChecksum: 0,
    reserved: 0,
  })
  const crc = checksums ? await crc32(header.subarray(0, structs.checkedHeader)) : 0
  new DataView(header.buffer).setUint32(structs.checkedHeader, crc, true)
  const padding = dataOffset - indexOffset - index.bytes.byteLength
  const slots = slotsMadeBy(function* () {
    yield { kind: 'bytes', path: 'header', bytes: header }
    yield { kind: 'bytes', path: 'metadata', bytes: metadata }
    yield { kind: 'bytes', path: 'vocab', bytes: vocab }
    yield { kind: 'bytes', path: 'tensors', bytes: index.bytes }
    if (padding > 0) yield { kind: 'zeros', path: 'padding', length: padding }
    yield* dataSlots(tensors, index.offsets)
    yield* footerSlots(checksums, dataOffset, footerOffset)
  })
  return { name: file, slots }
}

function refuse(code: 'write-limit' | Code, file: string, path: string, message: string): never {
  return failWith(typeof code === 'string' ? codes[code] : code, { file, path, message })
}

/** Alignment and checksums: as asked, or as the source has them, or both. */
function manner(model: Model, { align, extra }: WriteOptions): { align: number; checksums: boolean } {
  const source = mannerOf(model)
  const known = source?.layout === 'sectioned' ? source : { aligned: true, checksums: true }
  const checksums = extra?.checksums === undefined ? known.checksums : extra.checksums !== 'off'
  return { align: align ?? (known.aligned ? structs.alignment : 1), checksums }
}

function metadataSection(
  metadata: Metadata,
  repeated: readonly (readonly [string, string])[],
  file: string,
): Uint8Array {
  const entries: Uint8Array[] = []
  const add = (key: string, value: Uint8Array): void => {
    const name = encodeUtf8(key)
    const length = Math.max(name.byteLength, value.byteLength)
    if (length > 0xffff)
      refuse('write-limit', file, `metadata[${JSON.stringify(key)}]`, `${length} bytes; 65535 is the maximum`)
    entries.push(
      structs.metadataEntry.write({ keyLength: name.byteLength, valueLength: value.byteLength }),
      name,
      value,
    )
  }
  for (const [key, value] of metadata) {
    if (value.type !== 'str')
      refuse(writeCodes['value-range'], file, `metadata[${JSON.stringify(key)}]`, 'metadata values are strings')
    add(key, value.bytes ?? encodeUtf8(value.value))
  }
  for (const [key, value] of repeated) add(key, encodeUtf8(value))
  const body = joinBytes(entries)
  const head = structs.metadataHeader.write({ entryCount: entries.length / 3, totalSize: body.byteLength })
  return joinBytes([head, body])
}

const repeatedEntries = (model: Model): readonly (readonly [string, string])[] =>
  (model.parts.find((part) => part.kind === repeatedKind)?.value ?? []) as unknown as readonly (readonly [
    string,
    string,
  ])[]

/** Without all five special ids there is no block of them; readers then find the ids by the tokens' text. */
function vocabSection({ tokens, special }: Vocabulary, offset: number, file: string): Uint8Array {
  const entries: Uint8Array[] = []
  for (const [id, token] of tokens.entries()) {
    const length = token.byteLength
    if (length > 0xffff) refuse('write-limit', file, `vocab.tokens[${id}]`, `${length} bytes; 65535 is the maximum`)
    entries.push(Uint8Array.of(length % 256, Math.floor(length / 256)), token)
  }
  const body = joinBytes(entries)
  const block = specialBytes(special)
  const head = structs.vocabHeader.write({
    tokenCount: tokens.length,
    totalSize: body.byteLength,
    specialTokens: block ? offset + structs.vocabHeader.size : 0,
  })
  return joinBytes([head, block ?? new Uint8Array(0), body])
}

function specialBytes(special: SpecialIds): Uint8Array | undefined {
  if (specialNames.some((name) => special[name] === undefined)) return undefined
  const { pad, unk, cls, sep, mask } = special as Required<SpecialIds>
  return structs.specialBlock.write({ padId: pad, unkId: unk, clsId: cls, sepId: sep, maskId: mask })
}

function* dataSlots(tensors: readonly Tensor[], offsets: readonly number[]): Generator<Slot, void, void> {
  let reached = 0
  for (const [i, { name, data }] of tensors.entries()) {
    const padding = offsets[i]! - reached
    if (padding > 0) yield { kind: 'zeros', path: 'data.padding', length: padding }
    yield dataSlot(name, data!)
    reached = offsets[i]! + data!.byteLength
  }
}

/** Both checksums cover what comes before them, so the file can be written in one go. */
function footerSlots(checksums: boolean, dataOffset: number, footerOffset: number): Slot[] {
  const end = joinBytes([structs.magicEnd, new Uint8Array(4)])
  if (!checksums) return [{ kind: 'bytes', path: 'footer', bytes: joinBytes([new Uint8Array(8), end]) }]
  const crc = (name: string, from: number): DigestSlot => ({
    kind: 'digest',
    path: `footer.${name}`,
    algorithm: 'crc32',
    length: 4,
    covers: [[from, footerOffset]],
    encode: (digest) => digest.toReversed(),
  })
  return [crc('data_checksum', dataOffset), crc('file_checksum', 0), { kind: 'bytes', path: 'footer', bytes: end }]
}
