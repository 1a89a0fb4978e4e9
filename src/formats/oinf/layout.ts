// Writing, with the same bytes as the reference encoder: each table sorted by stored name, metadata values in table order, then tensor
// data in table order, everything on multiples of 8. Quantization follows its tensor's data, where the offsets of the reference
// encoder mean it to be (see misplaced.ts).
import { alignUp, compareUtf8, isPowerOfTwo } from '../../bytes/index.js'
import { u8 } from '../../dtypes/index.js'
import { callerWord, failWith, usageCodes, writeCodes } from '../../errors/index.js'
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
import {
  encodeIndex,
  type MetadataEntry,
  type Places,
  placeSections,
  type SizevarEntry,
  type Tables,
} from './encode-index.js'
import { stow } from './metadata/stow.js'
import { writeValue } from './metadata/values.js'
import { escapeKey, escapeName, quantKey } from './names.js'
import { quantSizeOf, whyQuantUnfit, writeQuant } from './quant.js'
import { aligned, alignment, versionOption } from './structs.js'
import { dataSize, tagByDType } from './types.js'

export async function layout(model: Model, options: WriteOptions): Promise<Layout> {
  const { name: file, align = alignment } = options
  const asked = askedVersion(options.extra, file)
  const isQuantized = checkTensors(model, file)
  const isV2 = model.format === 'oinf' && model.version === '2'
  // 2 where it is needed or where the model comes from, otherwise 1.
  const version = asked ?? (isV2 || isQuantized ? 2 : 1)
  const metadata = listMetadata(model, file)
  const tensors = model.tensors.map((tensor) => ({ name: storedName(tensor), tensor }))
  if (version === 1 && isQuantized)
    for (const { name, tensor } of tensors) if (tensor.quant) metadata.push(stowQuant(name, writeQuant(tensor.quant)))
  const tables: Tables = {
    version,
    sizevars: sortByName(listSizevars(model, file), 'sizevars', file),
    metadata: sortByName(metadata, 'metadata', file),
    tensors: sortByName(tensors, 'tensors', file),
  }
  if (!isPowerOfTwo(align) || align < alignment)
    failWith(usageCodes.option, { file, message: `OINF aligns to 8 or a higher power of two, not to ${align}` })
  const sections = placeSections(tables)
  const places = placeValues(tables, sections.data, align)
  const index = encodeIndex(tables, sections, places)
  return { files: [{ name: file, slots: slotsMadeBy(() => slotsOf(index, tables, places)) }] }
}

function askedVersion(extra: OptionValues | undefined, file: string): 1 | 2 | undefined {
  const asked = extra?.[versionOption]
  if (asked === undefined) return undefined
  const version = Number(asked)
  if (version === 1 || version === 2) return version
  return failWith(usageCodes.option, {
    file,
    message: `${callerWord(`--${versionOption}`, versionOption)} is 1 or 2, not ${asked}`,
  })
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

/** Fails where OINF cannot hold a tensor; returns whether any is quantized. */
function checkTensors({ tensors }: Model, file: string): boolean {
  let isQuantized = false
  for (const { name, dtype, shape, data, quant } of tensors) {
    const refuse = (code: keyof typeof writeCodes, message: string): never =>
      failWith(writeCodes[code], { file, path: name, message })
    if (!tagByDType.has(dtype.id)) refuse('dtype-unsupported', `OINF has no type for ${dtype.id}`)
    const size = dataSize(dtype, shape)
    if (data && data.byteLength !== size) {
      const message = `${data.byteLength} bytes, but shape [${shape.join(', ')}] of ${dtype.id} takes ${size}`
      refuse('layout-mismatch', message)
    }
    const why = quant && whyQuantUnfit(quant, shape)
    if (why !== undefined) refuse('value-range', why)
    isQuantized ||= quant !== undefined
  }
  return isQuantized
}

/** Where each value begins. An empty value takes no room, but has an offset. */
function placeValues({ version, metadata, tensors }: Tables, start: number, align: number): Places {
  let end = start
  const put = (length: number, to = alignment): number => {
    end = alignUp(end, to) + length
    return end - length
  }
  const values = metadata.map(({ value }) => put(value.bytes.byteLength))
  const data: number[] = []
  const quant: number[] = []
  for (const { tensor } of tensors) {
    data.push(tensor.data ? put(tensor.data.byteLength, align) : 0)
    quant.push(tensor.quant && version === 2 ? put(quantSizeOf(tensor.quant)) : 0)
  }
  return { metadata: values, data, quant, end: aligned(end) }
}

/** The index and all values in the order of the file, with zeros between them. */
function* slotsOf(
  index: Uint8Array,
  { version, metadata, tensors }: Tables,
  places: Places,
): Generator<Slot, void, void> {
  yield { kind: 'bytes', path: 'index', bytes: index }
  let reached = index.byteLength
  const padded = function* (offset: number, slot: Slot): Generator<Slot, void, void> {
    if (offset > reached) yield { kind: 'zeros', path: 'padding', length: offset - reached }
    const length = slotLength(slot)
    if (length > 0) yield slot
    reached = offset + length
  }
  for (const [i, { value }] of metadata.entries())
    yield* padded(places.metadata[i]!, { kind: 'bytes', path: `metadata[${i}].value`, bytes: value.bytes })
  for (const [i, { tensor }] of tensors.entries()) {
    const { data, quant } = tensor
    if (data) yield* padded(places.data[i]!, { kind: 'payload', path: `tensors[${i}].data`, payload: data })
    if (quant && version === 2)
      yield* padded(places.quant[i]!, { kind: 'bytes', path: `tensors[${i}].quant`, bytes: writeQuant(quant) })
  }
  if (places.end > reached) yield { kind: 'zeros', path: 'padding', length: places.end - reached }
}
