// Makes a model of what the records say: names and values get back the form that they had before they were fitted into OINF.
import type { ByteSource } from '../../bytes/index.js'
import { collectingReport, type Finding } from '../../errors/index.js'
import type { JsonValue, MetaValue, Model, Opened, Part, QuantParams, ReadContext } from '../../model/index.js'
import { RangePayload } from '../../model/range-payload.js'
import { check } from './check.js'
import { codes } from './codes.js'
import { unstow } from './metadata/stow.js'
import { countDistinct, type Names } from './name-list.js'
import { type Name, quantKey, quantPrefix, unescapeKey, unescapeName } from './names.js'
import { type Parsed, parseFile } from './parse.js'
import { readQuant } from './quant.js'
import type { Tables } from './tables/tables.js'
import type { TensorTable } from './tensor-table.js'

export async function readFile(source: ByteSource, context: ReadContext): Promise<Opened> {
  const parsed = await parseFile(source, context)
  const model = toModel(source, parsed, context)
  return { model, check: (checking) => check(model, parsed.free, checking) }
}

/** The model that the records describe, or should have described where they are misplaced. Takes over the tensors. */
export function toModel(source: ByteSource, parsed: Parsed, context: ReadContext): Model {
  const { header, tables } = parsed
  const { tensors } = tables.tensors
  const metadata = restoreMetadata(parsed, context)
  const stowed = header.version === 1 ? takeStowedQuants(metadata, tables.tensors) : undefined
  completeTensors(parsed, stowed, context)
  const version = String(header.version)
  return { format: 'oinf', version, metadata, tensors, parts: sizeVariables(tables, context), files: [source] }
}

/** Gives tensors what their records alone do not say. */
function completeTensors(
  { tables, quants, placement }: Parsed,
  stowed: ReadonlyMap<number, QuantParams> | undefined,
  context: ReadContext,
): void {
  const table = tables.tensors
  const { tensors, hasEscapes } = table
  const { report, extents } = context
  const nameOf = hasEscapes ? restoreNames(tensors, 'tensors', context) : undefined
  if (!nameOf && !extents && !placement && quants.size + (stowed?.size ?? 0) === 0) return
  for (const [i, tensor] of tensors.entries()) {
    const { text: name, raw } = nameOf?.(i) ?? { text: tensor.name, raw: undefined }
    const range = tensor.data?.origin
    const offset = placement && range ? placement.offsets[i]! : range?.offset
    if (range)
      extents?.add({
        file: report.file,
        offset: offset!,
        length: range.length,
        path: table.pathOf(i, 'data'),
        kind: 'data',
      })
    const quant = quants.get(i) ?? stowed?.get(i)
    if (name === tensor.name && offset === range?.offset && !quant) continue
    const data = range ? new RangePayload(range.source, offset!, range.length) : null
    const { dtype, shape, exactShape, order, role } = tensor
    // All fields at once: engines take many times as long for objects that are made by spreading others.
    tensors.replace(i, { name, rawName: raw && [raw], dtype, shape, exactShape, order, role, data, quant })
  }
}

/** Names as they were before escaping. Should two become one, which only a file made by hand can bring about, all stay as stored. */
function restoreNames(stored: Names, table: string, { report }: ReadContext): ((index: number) => Name) | undefined {
  const nameOf = (index: number): Name => unescapeName(stored.nameAt(index))
  const texts: Names = { length: stored.length, nameAt: (index) => nameOf(index).text }
  if (countDistinct(texts) === countDistinct(stored)) return nameOf
  const message = 'two names are the same once unescaped, so all are kept as they are stored'
  report.report(codes['name-escape'], { offset: 0, path: table, message })
  return undefined
}

function restoreMetadata({ values, header }: Parsed, { report }: ReadContext): Map<string, MetaValue> {
  const metadata = new Map<string, MetaValue>()
  for (const [stored, value] of values) {
    const entry = unstow(stored, value) ?? { key: unescapeKey(stored), value }
    metadata.set(entry.key, entry.value)
  }
  if (metadata.size === values.size) return metadata
  const message = 'two keys are the same once unescaped, so all are kept as they are stored'
  report.report(codes['name-escape'], { offset: header.tables.metadata.offset, path: 'metadata', message })
  return new Map(values)
}

function takeStowedQuants(metadata: Map<string, MetaValue>, { tensors }: TensorTable): Map<number, QuantParams> {
  const quants = new Map<number, QuantParams>()
  if (![...metadata.keys()].some((key) => key.startsWith(quantPrefix))) return quants
  for (const [i, { name, shape }] of tensors.entries()) {
    const key = quantKey(name)
    const value = metadata.get(key)
    if (value?.type !== 'ndarray' || value.dtype.id !== 'u8' || value.shape.length !== 1) continue
    const findings: Finding[] = []
    const quant = readQuant(value.value, shape, { offset: 0, path: key }, collectingReport('', findings))
    if (!quant || findings.length > 0) continue
    quants.set(i, quant)
    metadata.delete(key)
  }
  return quants
}

function sizeVariables({ sizevars }: Tables, context: ReadContext): Part[] {
  if (sizevars.size === 0) return []
  const stored = [...sizevars.keys()]
  const names: Names = { length: stored.length, nameAt: (index) => stored[index]! }
  const nameOf = restoreNames(names, 'sizevars', context)
  const content = new Map([...sizevars.values()].map((value, i) => [nameOf?.(i).text ?? stored[i]!, value]))
  const value = Object.create(null) as Record<string, JsonValue>
  for (const [name, size] of content)
    value[name] = size <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(size) : size.toString()
  return [{ kind: 'size-variables', sharing: 'shared', value, content }]
}
