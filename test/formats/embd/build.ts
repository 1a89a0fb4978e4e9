// Files for the tests of this format: written by tare, then changed by hand, with the checksums repaired where the damage is not theirs.
import { crc32 } from 'node:zlib'
import { encodeUtf8 } from '../../../src/bytes/index.js'
import { tableOf, vocabularyPart } from '../../../src/content/vocabulary.js'
import { header as headerStruct } from '../../../src/formats/embd/structs.js'
import { MemorySource, type MetaValue, type Model, text, verifySource } from '../../../src/kit.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'

export const sampleTokens = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'the', '##s', 'fox'].map(encodeUtf8)

export const sampleMetadata: ReadonlyMap<string, MetaValue> = new Map(
  [
    ['model_name', 'sample'],
    ['model_version', '1.0.0'],
    ['embedding_dim', '8'],
    ['vocab_size', '8'],
    ['num_layers', '1'],
    ['num_attention_heads', '2'],
    ['hidden_size', '8'],
    ['intermediate_size', '16'],
    ['max_position_emb', '8'],
    ['created_at', '2025-01-16T12:00:00Z'],
  ].map(([key, value]) => [key!, text(value!)]),
)

/** Three tensors with padding between them, all metadata, a vocabulary. */
export function sampleFile(): Model {
  const tensors = [
    sampleTensor('w.first', 'f32', [3, 3], 1),
    sampleTensor('w.second', 'i8', [5], 2),
    sampleTensor('w.third', 'u16', [2, 2, 2], 3),
  ]
  return { ...sampleModel(tensors, sampleMetadata), parts: [vocabularyPart(tableOf(sampleTokens))] }
}

export async function writeEmbd(
  model: Model,
  extra: Record<string, string | number> = {},
  align?: number,
): Promise<Uint8Array> {
  const files = await convertToFiles(model, 'embd', { name: 'out.weights', extra, align })
  return files.get('out.weights')!
}

export const layoutOf = (bytes: Uint8Array) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const u32 = (field: Parameters<typeof headerStruct.offsetOf>[0]): number =>
    view.getUint32(headerStruct.offsetOf(field), true)
  const dataSize = Number(view.getBigUint64(40, true))
  const total = Number(view.getBigUint64(48, true))
  const names = { metadata: u32('metadataOffset'), vocab: u32('vocabOffset'), index: u32('tensorIndexOffset') }
  return { ...names, count: u32('tensorIndexCount'), data: u32('tensorDataOffset'), dataSize, footer: total - 16 }
}

/** A copy with the change made and every checksum right again, so that only the structure can tell. */
export function changed(bytes: Uint8Array, change: (view: DataView, bytes: Uint8Array) => void): Uint8Array {
  const copy = bytes.slice()
  change(new DataView(copy.buffer), copy)
  return repaired(copy)
}

export function repaired(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer)
  view.setUint32(56, crc32(bytes.subarray(0, 56)), true)
  const { data, dataSize, footer } = layoutOf(bytes)
  if (footer < 64 || footer + 16 > bytes.byteLength) return bytes
  if (data + dataSize <= footer) view.setUint32(footer, crc32(bytes.subarray(data, data + dataSize)), true)
  view.setUint32(footer + 4, crc32(bytes.subarray(0, footer)), true)
  return bytes
}

/** The codes that verifying reports, notes left out. */
export async function codesOf(bytes: Uint8Array, name = 'x.weights'): Promise<string[]> {
  const { findings } = await verifySource(new MemorySource(bytes, name))
  return findings.filter(({ severity }) => severity !== 'note').map(({ code }) => code)
}

/** A stream file from its pieces: numbers are u32, texts come without a length. */
export function streamOf(...pieces: (number | string | Uint8Array)[]): Uint8Array {
  const bytes = pieces.map((piece) => {
    if (typeof piece === 'string') return encodeUtf8(piece)
    return typeof piece === 'number' ? new Uint8Array(Uint32Array.of(piece).buffer) : piece
  })
  return new Uint8Array(Buffer.concat([encodeUtf8('EMBD'), ...bytes]))
}
