// Writing, with the same bytes as the reference encoder: each table sorted by stored name, metadata values in table order, then tensor
// data in table order, everything on multiples of 8. Quantization follows its tensor's data, where the offsets of the reference
// encoder mean it to be (see misplaced.ts).
import { alignUp, compareUtf8, isPowerOfTwo } from '../../bytes/index.js'
import { u8 } from '../../dtypes/index.js'
import { failWith, usageCodes, writeCodes } from '../../errors/index.js'
import {
  type Layout,
  type Model,
  type OptionValues,
  type Slot,
  slotLength,
  slotsMadeBy,
  type WriteOptions,
} from '../../model/index.js'
import { storedName } from './capabilities.js'
import { escapeKey, escapeName, quantKey } from './names.js'
import { whyQuantUnfit, writeQuant } from './quant.js'
import { stow } from './stow.js'
import { aligned, alignment, versionOption } from './structs.js'
import { dataSize, tagByDType } from './types.js'
import { writeValue } from './values.js'
import {
  type MetadataEntry,
  type Places,
  placeSections,
  type SizevarEntry,
  type Tables,
  type TensorEntry,
  writeIndex,
} from './write-index.js'

export async function layout(model: Model, options: WriteOptions): Promise<Layout> {
  const { name } = options
  const version = chooseVersion(model, options.extra, name)
  const tensors = listTensors(model, name)
  const metadata = listMetadata(model, name)
  if (version === 1) {
    for (const tensor of tensors) if (tensor.quant) metadata.push(stowQuant(tensor.name, tensor.quant))
  }
  const tables: Tables = {
    sizevars: sortByName(listSizevars(model, name), 'sizevars', name),
    metadata: sortByName(metadata, 'metadata', name),
    tensors: sortByName(tensors, 'tensors', name),
  }
  return { files: [{ name, slots: place(version, tables, options) }] }
}

/** What was asked for; else 2 where it is needed or where the model comes from, and 1 for everybody else. */
function chooseVersion(model: Model, extra: OptionValues | undefined, file: string): 1 | 2 {
  const asked = extra?.[versionOption]
  if (asked === undefined) {
    const isV2 = model.format === 'oinf' && model.version === '2'
    return isV2 || model.tensors.some((tensor) => tensor.quant) ? 2 : 1
  }
  const version = Number(asked)
  if (version === 1 || version === 2) return version
  return failWith(usageCodes.option, { file, message: `--${versionOption} is 1 or 2, not ${asked}` })
}

function sortByName<T extends { readonly name: string }>(entries: T[], table: string, file: string): T[] {
  entries.sort((a, b) => compareUtf8(a.name, b.name))
  for (let i = 1; i < entries.length; i++) {
    const { name } = entries[i]!
    if (name !== entries[i - 1]!.name) continue
    failWith(writeCodes['duplicate-name'], { file, path: `${table}[${i}]`, message: `there are two entries ${name}` })
  }
  return entries
}

function listSizevars({ parts }: Model, file: string): SizevarEntry[] {
  return parts.flatMap(({ kind, value, content }) => {
    if (kind !== 'size-variables') return []
    const pairs: Iterable<[string, unknown]> = content instanceof Map ? content : Object.entries(value as object)
    return Array.from(pairs, ([name, size]) => ({ name: escapeName(name), value: toU64(name, size, file) }))
  })
}

function toU64(name: string, size: unknown, file: string): bigint {
  const isWhole = typeof size === 'bigint' || Number.isSafeInteger(size) || /^\d{1,20}$/.test(String(size))
  const value = isWhole ? BigInt(size as bigint) : -1n
  if (value >= 0n && value < 2n ** 64n) return value
  return failWith(writeCodes['value-range'], { file, path: `sizevars.${name}`, message: `${size} is no 64-bit size` })
}

function listMetadata({ metadata }: Model, file: string): MetadataEntry[] {
  return Array.from(metadata, ([key, value]) => {
    const stowed = stow(key, value)
    const stored = writeValue(stowed?.value ?? value)
    if (!stored) {
      const message = `a value of type ${value.type} does not fit its type or has no place in OINF`
      failWith(writeCodes['value-range'], { file, path: `metadata.${key}`, message })
    }
    return { name: stowed?.key ?? escapeKey(key), value: stored }
  })
}

/** Version 1 has no quantization; its readers can at least keep it as metadata. */
function stowQuant(name: string, quant: Uint8Array): MetadataEntry {
  const value = writeValue({ type: 'ndarray', dtype: u8, shape: [quant.byteLength], value: quant })!
  return { name: quantKey(name), value }
}

function listTensors({ tensors }: Model, file: string): TensorEntry[] {
  return tensors.map((tensor): TensorEntry => {
    const { dtype, shape, data: payload, quant } = tensor
    const refuse = (code: keyof typeof writeCodes, message: string): never =>
      failWith(writeCodes[code], { file, path: tensor.name, message })
    const tag = tagByDType.get(dtype.id) ?? refuse('dtype-unsupported', `OINF has no type for ${dtype.id}`)
    const size = dataSize(dtype, shape)
    if (payload && payload.byteLength !== size) {
      const message = `${payload.byteLength} bytes, but shape [${shape.join(', ')}] of ${dtype.id} takes ${size}`
      refuse('layout-mismatch', message)
    }
    const why = quant && whyQuantUnfit(quant, shape)
    if (why !== undefined) refuse('value-range', why)
    return { name: storedName(tensor), tag, shape, payload, quant: quant && writeQuant(quant) }
  })
}

/** Gives every value its place and lists the slots in the order of the file. */
function place(version: 1 | 2, tables: Tables, { name: file, align = alignment }: WriteOptions): Iterable<Slot> {
  if (!isPowerOfTwo(align) || align < alignment)
    failWith(usageCodes.option, { file, message: `OINF aligns to 8 or a higher power of two, not to ${align}` })
  const sections = placeSections(version, tables)
  const places = placeValues(version, tables, sections.data, align)
  const index = writeIndex(version, tables, sections, places)
  return slotsMadeBy(function* () {
    yield { kind: 'bytes', path: 'index', bytes: index }
    let reached = sections.data
    const padded = function* (offset: number, slot: Slot): Generator<Slot, void, void> {
      if (offset > reached) yield { kind: 'zeros', path: 'padding', length: offset - reached }
      const length = slotLength(slot)
      if (length > 0) yield slot
      reached = offset + length
    }
    for (const [i, { value }] of tables.metadata.entries())
      yield* padded(places.values[i]!, { kind: 'bytes', path: `metadata[${i}].value`, bytes: value.bytes })
    for (const [i, { payload, quant }] of tables.tensors.entries()) {
      const data = places.data[i]!
      const quantAt = places.quant.get(i)
      if (payload) yield* padded(data, { kind: 'payload', path: `tensors[${i}].data`, payload })
      if (quantAt !== undefined) yield* padded(quantAt, { kind: 'bytes', path: `tensors[${i}].quant`, bytes: quant! })
    }
    if (places.end > reached) yield { kind: 'zeros', path: 'padding', length: places.end - reached }
  })
}

/** Where each value begins. An empty value takes no room, but has an offset. */
function placeValues(version: 1 | 2, tables: Tables, start: number, align: number): Places {
  let end = start
  const put = (length: number, to = alignment): number => {
    end = alignUp(end, to) + length
    return end - length
  }
  const values = tables.metadata.map(({ value }) => put(value.bytes.byteLength))
  const data = new Float64Array(tables.tensors.length)
  const quantAt = new Map<number, number>()
  for (const [i, { payload, quant }] of tables.tensors.entries()) {
    if (payload) data[i] = put(payload.byteLength, align)
    if (quant && version === 2) quantAt.set(i, put(quant.byteLength))
  }
  return { values, data, quant: quantAt, end: aligned(end) }
}
