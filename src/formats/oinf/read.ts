// Makes a model of what the records say: names and values get back the form that they had before they were fitted into OINF.
import type { ByteSource } from '../../bytes/index.js'
import { collectingReport, type Finding } from '../../errors/index.js'
import type { JsonValue, MetaValue, Model, Opened, Part, QuantParams, ReadContext, Tensor } from '../../model/index.js'
import { check } from './check.js'
import { codes } from './codes.js'
import { unstow } from './metadata/stow.js'
import { looksEscaped, type Name, quantKey, quantPrefix, unescapeKey, unescapeName } from './names.js'
import { type Parsed, parseFile } from './parse.js'
import { readQuant } from './quant.js'
import { pathOfValue, TensorData } from './tables/records.js'
import type { Tables } from './tables/tables.js'

export async function readFile(source: ByteSource, context: ReadContext): Promise<Opened> {
  const parsed = await parseFile(source, context)
  const model = toModel(source, parsed, context)
  return { model, check: (checking) => check(model, parsed.free, checking) }
}

/** The model that the records describe, or should have described where they are misplaced. */
export function toModel(source: ByteSource, parsed: Parsed, context: ReadContext): Model {
  const { header, tables } = parsed
  const metadata = restoreMetadata(parsed, context)
  const quants = header.version === 1 ? takeStowedQuants(metadata, tables.tensors) : parsed.quants
  const tensors = completeTensors(parsed, quants, context)
  const version = String(header.version)
  return { format: 'oinf', version, metadata, tensors, parts: sizeVariables(tables, context), files: [source] }
}

/** Gives tensors what their records alone do not say. */
function completeTensors(
  { tables, placement }: Parsed,
  quants: ReadonlyMap<Tensor, QuantParams>,
  context: ReadContext,
): readonly Tensor[] {
  const { tensors } = tables
  const isEscaped = tensors.some(({ name }) => looksEscaped(name))
  const stored = isEscaped ? tensors.map(({ name }) => name) : []
  const names = isEscaped ? restoreNames(stored, 'tensors', context) : undefined
  if (!names && !placement && quants.size === 0 && !context.extents) return tensors
  return tensors.map((tensor, i) => {
    const name = names?.[i]
    const quant = quants.get(tensor)
    const data = placement && tensor.data ? movedTo(tensor.data, placement.offsets.get(tensor)!) : tensor.data
    if (data) noteData(data, context)
    if (!name && !quant && data === tensor.data) return tensor
    return { ...tensor, data, ...(name && { name: name.text, rawName: name.raw && [name.raw] }), quant }
  })
}

const movedTo = ({ source, byteLength, index }: TensorData, offset: number): TensorData =>
  new TensorData(source, offset, byteLength, index)

function noteData(data: TensorData, { report, extents }: ReadContext): void {
  const { offset, byteLength: length } = data
  extents?.add({ file: report.file, offset, length, path: pathOfValue(data), kind: 'data' })
}

/** Names as they were before escaping. Should two become one, which only a file made by hand can bring about, all stay as stored. */
function restoreNames(stored: readonly string[], table: string, { report }: ReadContext): Name[] | undefined {
  const names = stored.map(unescapeName)
  if (new Set(names.map(({ text }) => text)).size === new Set(stored).size) return names
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

/** Takes quantization that was kept as metadata out of it. */
function takeStowedQuants(metadata: Map<string, MetaValue>, tensors: readonly Tensor[]): Map<Tensor, QuantParams> {
  const quants = new Map<Tensor, QuantParams>()
  if (![...metadata.keys()].some((key) => key.startsWith(quantPrefix))) return quants
  for (const tensor of tensors) {
    const key = quantKey(tensor.name)
    const value = metadata.get(key)
    if (value?.type !== 'ndarray' || value.dtype.id !== 'u8' || value.shape.length !== 1) continue
    const findings: Finding[] = []
    const quant = readQuant(value.value, tensor.shape, { offset: 0, path: key }, collectingReport('', findings))
    if (!quant || findings.length > 0) continue
    quants.set(tensor, quant)
    metadata.delete(key)
  }
  return quants
}

function sizeVariables({ sizevars }: Tables, context: ReadContext): Part[] {
  if (sizevars.size === 0) return []
  const stored = [...sizevars.keys()]
  const names = restoreNames(stored, 'sizevars', context)
  const content = new Map([...sizevars.values()].map((value, i) => [names?.[i]?.text ?? stored[i]!, value]))
  const value = Object.create(null) as Record<string, JsonValue>
  for (const [name, size] of content)
    value[name] = size <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(size) : size.toString()
  return [{ kind: 'size-variables', sharing: 'shared', value, content }]
}
