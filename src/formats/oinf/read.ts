// Makes a model of what the records say: names and values get back the form that they had before they were fitted into OINF.
import type { ByteSource } from '../../bytes/index.js'
import { collectingReport, type Finding } from '../../errors/index.js'
import {
  type JsonValue,
  type MetaValue,
  type Model,
  type Part,
  type QuantParams,
  type ReadContext,
  rangePayload,
  type Tensor,
} from '../../model/index.js'
import type { FreeRange } from './blobs.js'
import { codes } from './codes.js'
import { type Name, quantKey, unescapeKey, unescapeName } from './names.js'
import { type Parsed, parseFile } from './parse.js'
import { readQuant } from './quant.js'
import type { TensorRecord } from './records.js'
import { unstow } from './stow.js'
import type { Tables } from './tables.js'

/** Unclaimed bytes of models that were read here, for the checks that look at them. */
export const freeRanges = new WeakMap<Model, readonly FreeRange[]>()

export async function readFile(source: ByteSource, context: ReadContext): Promise<Model> {
  const parsed = await parseFile(source, context)
  const model = toModel(source, parsed, context)
  freeRanges.set(model, parsed.free)
  return model
}

/** The model that the records describe, or should have described where they are misplaced. */
export function toModel(source: ByteSource, parsed: Parsed, context: ReadContext): Model {
  const { header, tables, quants, placement } = parsed
  const { report, extents } = context
  const metadata = restoreMetadata(parsed, context)
  const stowedQuants = header.version === 1 ? takeStowedQuants(metadata, tables) : undefined
  const names = restoreNames(
    tables.tensors.map((record) => record.name),
    'tensors',
    context,
  )
  const tensors = tables.tensors.map((record, i): Tensor => {
    const { dtype, shape } = record
    const data = placement ? placement.data.get(record) : record.data
    if (data) extents?.add({ file: report.file, ...data, path: `tensors[${record.index}].data`, kind: 'data' })
    const quant = quants.get(record) ?? stowedQuants?.get(record)
    const { text: name, raw } = names[i]!
    return {
      name,
      ...(raw && { rawName: [raw] }),
      dtype,
      shape,
      order: 'row',
      role: 'weight',
      data: data ? rangePayload(source, data.offset, data.length) : null,
      ...(quant && { quant }),
    }
  })
  const version = String(header.version)
  return { format: 'oinf', version, metadata, tensors, parts: sizeVariables(tables, context), files: [source] }
}

/** Names as they were before escaping. Should two become one, which only a file made by hand can bring about, all stay as stored. */
function restoreNames(stored: readonly string[], table: string, { report }: ReadContext): Name[] {
  const names = stored.map(unescapeName)
  if (names.every(({ text }, i) => text === stored[i])) return names
  const distinct = new Set(names.map(({ text }) => text)).size
  if (distinct === new Set(stored).size) return names
  const message = 'two names are the same once unescaped, so all are kept as they are stored'
  report.report(codes['name-escape'], { offset: 0, path: table, message })
  return stored.map((text) => ({ text }))
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

function takeStowedQuants(metadata: Map<string, MetaValue>, { tensors }: Tables): Map<TensorRecord, QuantParams> {
  const quants = new Map<TensorRecord, QuantParams>()
  if (metadata.size === 0) return quants
  for (const record of tensors) {
    const key = quantKey(record.name)
    const value = metadata.get(key)
    if (value?.type !== 'ndarray' || value.dtype.id !== 'u8' || value.shape.length !== 1) continue
    const findings: Finding[] = []
    const quant = readQuant(value.value, record.shape, { offset: 0, path: key }, collectingReport('', findings))
    if (!quant || findings.length > 0) continue
    quants.set(record, quant)
    metadata.delete(key)
  }
  return quants
}

function sizeVariables({ sizevars }: Tables, context: ReadContext): Part[] {
  if (sizevars.size === 0) return []
  const names = restoreNames([...sizevars.keys()], 'sizevars', context)
  const content = new Map([...sizevars.values()].map((value, i) => [names[i]!.text, value]))
  const value = Object.create(null) as Record<string, JsonValue>
  for (const [name, size] of content)
    value[name] = size <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(size) : size.toString()
  return [{ kind: 'size-variables', sharing: 'shared', value, content }]
}
