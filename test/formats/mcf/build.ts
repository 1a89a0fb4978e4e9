// A small valid file, and ways to spoil it. Offsets are looked up in the file, so a test says what it changes and not where.
import {
  header,
  indexEntry,
  indexHeader,
  modelInfoHeader,
  quantRecord,
  sectionRecord,
} from '../../../src/formats/mcf/structs.js'
import { fixtureBytes } from '../../support/fixtures.js'

/** ModelInfo, config.json, three tensors (f32, q4 and one more), one quantization record; the directory is last. */
export const base = (): Uint8Array => fixtureBytes('mcf', 'layout-reference-order.mcf').slice()

export interface Place {
  readonly offset: number
  readonly size: number
  /** Offset of the directory's record. */
  readonly record: number
}

const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export function sectionOf(bytes: Uint8Array, type: number): Place {
  const data = view(bytes)
  const directory = Number(data.getBigUint64(header.offsetOf('sectionDirOffset'), true))
  for (let i = 0; i < data.getUint32(header.offsetOf('sectionCount'), true); i++) {
    const record = directory + i * sectionRecord.size
    if (data.getUint32(record, true) !== type) continue
    const [offset, size] = [8, 16].map((at) => Number(data.getBigUint64(record + at, true))) as [number, number]
    return { offset, size, record }
  }
  throw new Error(`no section ${type}`)
}

/** Sets one number; its width is the field's. */
export function poke(bytes: Uint8Array, offset: number, value: number | bigint, width: 1 | 2 | 4 | 8): Uint8Array {
  const data = view(bytes)
  if (width === 1) data.setUint8(offset, Number(value))
  else if (width === 2) data.setUint16(offset, Number(value), true)
  else if (width === 4) data.setUint32(offset, Number(value), true)
  else data.setBigUint64(offset, BigInt(value), true)
  return bytes
}

export const inHeader = (field: Parameters<typeof header.offsetOf>[0]): number => header.offsetOf(field)

export const inSection = (
  bytes: Uint8Array,
  type: number,
  field: Parameters<typeof sectionRecord.offsetOf>[0],
): number => sectionOf(bytes, type).record + sectionRecord.offsetOf(field)

export const inIndex = (bytes: Uint8Array, field: Parameters<typeof indexHeader.offsetOf>[0]): number =>
  sectionOf(bytes, 3).offset + indexHeader.offsetOf(field)

export const inEntry = (bytes: Uint8Array, i: number, field: Parameters<typeof indexEntry.offsetOf>[0]): number =>
  sectionOf(bytes, 3).offset + indexHeader.size + i * indexEntry.size + indexEntry.offsetOf(field)

/** The dimension `axis` of entry `i`. */
export function inDims(bytes: Uint8Array, i: number, axis: number): number {
  const first = view(bytes).getUint32(inEntry(bytes, i, 'dimOff'), true)
  const dims = Number(view(bytes).getBigUint64(inIndex(bytes, 'dimsOff'), true))
  return sectionOf(bytes, 3).offset + dims + 8 * (first + axis)
}

export const inRecord = (bytes: Uint8Array, field: Parameters<typeof quantRecord.offsetOf>[0]): number =>
  sectionOf(bytes, 2).offset + 8 + quantRecord.offsetOf(field)

export const inModelInfo = (bytes: Uint8Array, field: Parameters<typeof modelInfoHeader.offsetOf>[0]): number =>
  sectionOf(bytes, 1).offset + modelInfoHeader.offsetOf(field)

/** A container made of the given sections, in their order, with the directory last. */
export function assemble(sections: readonly (readonly [type: number, bytes: Uint8Array])[], flags = 1n): Uint8Array {
  const placed: { type: number; offset: number; bytes: Uint8Array }[] = []
  let end = header.size
  for (const [type, bytes] of sections) {
    end = Math.ceil(end / 8) * 8
    placed.push({ type, offset: end, bytes })
    end += bytes.byteLength
  }
  const directory = Math.ceil(end / 8) * 8
  const file = new Uint8Array(directory + placed.length * sectionRecord.size)
  for (const { offset, bytes } of placed) file.set(bytes, offset)
  for (const [i, { type, offset, bytes }] of placed.entries()) {
    const record = { type, version: 1, offset: BigInt(offset), size: BigInt(bytes.byteLength) }
    sectionRecord.writeInto(view(file), directory + i * sectionRecord.size, record)
  }
  header.writeInto(view(file), 0, {
    ...{ magic: Uint8Array.of(0x4d, 0x43, 0x46, 0), major: 1, minor: 1, headerSize: header.size },
    ...{ sectionCount: placed.length, sectionDirOffset: BigInt(directory), fileSize: BigInt(file.byteLength), flags },
  })
  return file
}

interface EntryValues {
  readonly name: string
  readonly dtype: number
  readonly dims: readonly bigint[]
  readonly dataOff: bigint
  readonly dataSize: bigint
}

/** A TensorIndex of one's own. */
export function indexOf(entries: readonly EntryValues[]): Uint8Array {
  const names = entries.map(({ name }) => new TextEncoder().encode(name))
  const dims = entries.flatMap((entry) => entry.dims)
  const dimsOff = indexHeader.size + entries.length * indexEntry.size
  const stringsOff = dimsOff + dims.length * 8
  const bytes = new Uint8Array(stringsOff + names.reduce((sum, name) => sum + name.byteLength, 0))
  indexHeader.writeInto(view(bytes), 0, {
    ...{ version: 1, flags: 2, tensorCount: entries.length, dimsCount: dims.length, entriesOff: 48n },
    ...{ dimsOff: BigInt(dimsOff), stringsOff: BigInt(stringsOff), stringsSize: BigInt(bytes.byteLength - stringsOff) },
  })
  let [dimOff, nameOff] = [0, 0]
  for (const [i, { dtype, dims: own, dataOff, dataSize }] of entries.entries()) {
    const name = names[i]!
    indexEntry.writeInto(view(bytes), indexHeader.size + i * indexEntry.size, {
      ...{ nameOff, nameLen: name.byteLength, dtype, rank: own.length, dimOff, reserved: 0, dataOff, dataSize },
    })
    for (const [axis, dim] of own.entries()) view(bytes).setBigUint64(dimsOff + 8 * (dimOff + axis), dim, true)
    bytes.set(name, stringsOff + nameOff)
    dimOff += own.length
    nameOff += name.byteLength
  }
  return bytes
}
