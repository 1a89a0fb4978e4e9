// Writing the sectioned layout, where the document leaves a choice in one fixed way: sections in the order of its drawing, the special
// ids in front of the tokens with an absolute offset, data last, padding only where alignment wants it.
import { alignUp, encodeUtf8, joinBytes } from '../../bytes/index.js'
import { fnv1a32 } from '../../digest/fnv1a.js'
import { type Code, failWith, writeCodes } from '../../errors/index.js'
import {
  type DigestSlot,
  type FileLayout,
  type Metadata,
  type Model,
  type Slot,
  slotsMadeBy,
  type TensorList,
  type WriteOptions,
} from '../../model/index.js'
import { type SpecialIds, specialNames, type Vocabulary, vocabularyOf } from '../../model/vocabulary.js'
import { codes } from './codes.js'
import { crc32 } from './crc.js'
import { metadataToWrite } from './derive-metadata.js'
import { fileOf, repeatedKind } from './parts.js'
import * as structs from './structs.js'
import { inFileOrder } from './tensor-order.js'

export async function layoutSectioned(model: Model, options: WriteOptions): Promise<FileLayout> {
  const tensors = inFileOrder(model)
  const file = options.name
  if (tensors.length === 0) refuse('write-limit', file, 'tensors', 'a sectioned file needs at least one tensor')
  const { align, checksums } = manner(model, options)
  const metadata = metadataSection(metadataToWrite(model, options), repeatedEntries(model), file)
  const metadataOffset = structs.header.size
  const vocabulary = vocabularyOf(model.parts)
  const vocabOffset = metadataOffset + metadata.byteLength
  const vocab = vocabulary ? vocabSection(vocabulary, vocabOffset, file) : new Uint8Array(0)
  const indexOffset = vocabOffset + vocab.byteLength
  const { offsets, size: dataSize } = placeTensors(tensors, align)
  const index = indexSection(tensors, offsets, file)
  const dataOffset = alignUp(indexOffset + index.byteLength, align)
  const footerOffset = dataOffset + dataSize
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
    tensorDataSize: BigInt(dataSize),
    totalFileSize: BigInt(footerOffset + structs.footer.size),
    headerChecksum: 0,
    reserved: 0,
  })
  const crc = checksums ? await crc32(header.subarray(0, structs.checkedHeader)) : 0
  new DataView(header.buffer).setUint32(structs.checkedHeader, crc, true)
  const padding = dataOffset - indexOffset - index.byteLength
  const slots = slotsMadeBy(function* () {
    yield { kind: 'bytes', path: 'header', bytes: header }
    yield { kind: 'bytes', path: 'metadata', bytes: metadata }
    yield { kind: 'bytes', path: 'vocab', bytes: vocab }
    yield { kind: 'bytes', path: 'tensors', bytes: index }
    if (padding > 0) yield { kind: 'zeros', path: 'padding', length: padding }
    yield* dataSlots(tensors, offsets)
    yield* footerSlots(checksums, dataOffset, footerOffset)
  })
  return { name: file, slots }
}

function refuse(code: 'write-limit' | Code, file: string, path: string, message: string): never {
  return failWith(typeof code === 'string' ? codes[code] : code, { file, path, message })
}

/** Alignment and checksums: as asked, or as the source has them, or both. */
function manner(model: Model, { align, extra }: WriteOptions): { align: number; checksums: boolean } {
  const source = fileOf(model)
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
      refuse('write-limit', file, `metadata[${JSON.stringify(key)}]`, `${length} bytes; 65535 are the most`)
    entries.push(
      structs.metadataEntry.write({ keyLength: name.byteLength, valueLength: value.byteLength }),
      name,
      value,
    )
  }
  for (const [key, value] of metadata) {
    if (value.type !== 'str')
      refuse(writeCodes['value-range'], file, `metadata[${JSON.stringify(key)}]`, 'metadata are strings')
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
    if (length > 0xffff) refuse('write-limit', file, `vocab.tokens[${id}]`, `${length} bytes; 65535 are the most`)
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

function placeTensors(tensors: TensorList, align: number): { offsets: Float64Array; size: number } {
  const offsets = new Float64Array(tensors.length)
  let size = 0
  for (const [i, { data }] of tensors.entries()) {
    const offset = alignUp(size, align)
    offsets[i] = offset
    size = offset + (data?.byteLength ?? 0)
  }
  return { offsets, size }
}

function indexSection(tensors: TensorList, offsets: Float64Array, file: string): Uint8Array {
  const namesAt = tensors.length * structs.descriptor.size
  // UTF-8 takes at most three bytes for each unit of a string.
  const bytes = new Uint8Array(tensors.reduce((sum, { name }) => sum + 3 * name.length, namesAt))
  const view = new DataView(bytes.buffer)
  let end = namesAt
  for (const [i, { name, dtype, shape, data }] of tensors.entries()) {
    const path = `tensors[${JSON.stringify(name)}]`
    const code = structs.dtypeCode.get(dtype.id)
    if (code === undefined || !data) {
      const message = data ? `there is no type for ${dtype.id}` : 'the tensor has no data'
      refuse(writeCodes['dtype-unsupported'], file, path, message)
    }
    const encoded = encodeUtf8(name)
    const nameLength = encoded.byteLength
    if (nameLength < 1 || nameLength > 0xffff) {
      refuse(writeCodes['name-unsupported'], file, path, `a name of ${nameLength} bytes; 1 to 65535 are possible`)
    }
    if (shape.length < 1 || shape.length > structs.maxRank || shape.some((dim) => dim < 1 || dim > 0xffffffff)) {
      refuse('write-limit', file, path, `the shape [${shape.join(', ')}] has no place here`)
    }
    const [shape0 = 0, shape1 = 0, shape2 = 0, shape3 = 0] = shape
    structs.descriptor.writeInto(view, i * structs.descriptor.size, {
      nameHash: fnv1a32(encoded),
      dtype: code,
      ndim: shape.length,
      nameLength,
      shape0,
      shape1,
      shape2,
      shape3,
      dataOffset: BigInt(offsets[i]!),
    })
    bytes.set(encoded, end)
    end += nameLength
  }
  return bytes.subarray(0, end)
}

function* dataSlots(tensors: TensorList, offsets: Float64Array): Generator<Slot, void, void> {
  let reached = 0
  for (const [i, { name, data }] of tensors.entries()) {
    const padding = offsets[i]! - reached
    if (padding > 0) yield { kind: 'zeros', path: 'data.padding', length: padding }
    yield { kind: 'payload', path: `data[${JSON.stringify(name)}]`, payload: data! }
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
