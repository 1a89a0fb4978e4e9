// The first lines of `inspect`: what kind of model it is, whether it fits into memory, and what the file is.
import type { Inspection, Model, ModelSummary } from '../../../kit-node.js'
import { escapeText } from '../../console/escape.js'
import { formatAmount, formatBytes, formatInteger, formatSize, plural } from '../../console/format-values.js'

export function headRows(
  model: Model,
  { format, version, variant, size }: Omit<Inspection, 'tensors'>,
  summary: ModelSummary,
): [label: string, text: string][] {
  const rows: [label: string, text: string][] = [
    ['model', describeArchitecture(summary)],
    ['graph', describeGraph(model)],
    ['memory', describeMemory(summary)],
    ['format', [format, version && escapeText(version), variant && escapeText(variant)].filter(Boolean).join(' ')],
    ['size', `${formatBytes(size)}${model.files.length > 1 ? ` in ${plural(model.files.length, 'file')}` : ''}`],
    ['tensors', describeTensors(model, summary)],
    ['packed', describePacking(summary)],
    ['types', describeTypes(model)],
  ]
  return rows.filter(([, text]) => text !== '')
}

/** `llama, 16 layers, hidden 2048, 32 heads (8 kv), context 131072, vocabulary 128256` */
function describeArchitecture({ architecture: known }: ModelSummary): string {
  if (!known) return ''
  const { architecture, layers, hidden, heads, kvHeads, experts, usedExperts, context, vocabulary } = known
  const kv = kvHeads === undefined || kvHeads === heads ? '' : ` (${kvHeads} kv)`
  const facts = [
    architecture && escapeText(architecture),
    layers && plural(layers, 'layer'),
    hidden && `hidden ${hidden}`,
    heads && `${plural(heads, 'head')}${kv}`,
    experts && `${plural(experts, 'expert')}${usedExperts === undefined ? '' : ` (${usedExperts} used)`}`,
    context && `context ${context}`,
    vocabulary && `vocabulary ${vocabulary}`,
  ]
  return facts.filter(Boolean).join(', ')
}

/** `272 nodes, input_ids, attention_mask → logits` */
function describeGraph({ parts }: Model): string {
  const graph = parts.find(({ kind }) => kind.endsWith('.graph'))?.value as Graph | undefined
  if (!graph) return ''
  const { nodes, inputs, outputs } = graph
  return `${plural(nodes, 'node')}, ${listNames(inputs)} → ${listNames(outputs)}`
}

interface Graph {
  readonly nodes: number
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
}

const maxNames = 4

/** Of a text model that keeps its cache outside there are dozens. */
function listNames(names: readonly string[]): string {
  const shown = names.slice(0, maxNames).map(escapeText)
  return names.length > maxNames ? `${shown.join(', ')} and ${names.length - maxNames} more` : shown.join(', ')
}

const tokensShown = 1024

/** `2.30 GiB for the weights, 4.00 GiB for a KV cache of 131,072 tokens (f16; 32.0 MiB per 1,024)` */
function describeMemory({ weightBytes, kvCache, architecture }: ModelSummary): string {
  if (weightBytes === 0) return ''
  const weights = `${formatSize(weightBytes)} for the weights`
  if (!kvCache) return weights
  const growth = describeGrowth(kvCache)
  if (kvCache.bytes === undefined) return `${weights}; a KV cache takes ${growth} tokens (f16)`
  const tokens = plural(architecture?.context ?? 0, 'token')
  return `${weights}, ${formatSize(kvCache.bytes)} for a KV cache of ${tokens} (f16; ${growth})`
}

/** `4.00 MiB per 1,024`, `windows of 512 take 11.0 MiB, the rest 4.00 MiB per 1,024` */
function describeGrowth({ bytesPerToken, window }: NonNullable<ModelSummary['kvCache']>): string {
  const rest = bytesPerToken - (window?.bytesPerToken ?? 0)
  const growth = `${formatSize(rest * tokensShown)} per ${formatInteger(tokensShown)}`
  if (!window) return growth
  const windows = `windows of ${formatInteger(window.tokens)} take ${formatSize(window.tokens * window.bytesPerToken)}`
  return rest === 0 ? windows : `${windows}, the rest ${growth}`
}

/** `4 with 3.12 M parameters, 16 bits each` */
function describeTensors({ tensors }: Model, { parameters, bitsPerWeight }: ModelSummary): string {
  const states = tensors.filter(({ role }) => role === 'state').length
  const parts = [
    `${formatInteger(tensors.length)} with ${formatAmount(parameters)} parameters`,
    bitsPerWeight !== null && `${Number(bitsPerWeight.toFixed(2))} bits each`,
    states > 0 && plural(states, 'optimizer state'),
  ]
  return parts.filter(Boolean).join(', ')
}

/** `gptq 4-bit, group 128: 224 weights with 6.48 G parameters` */
const describePacking = ({ packing = [] }: ModelSummary): string =>
  packing
    .map(
      ({ form, weights, parameters }) =>
        `${escapeText(form)}: ${plural(weights, 'weight')} with ${formatAmount(parameters)} parameters`,
    )
    .join(' · ')

/** `f16 226 (12.4 GiB) · f32 65 (1.02 MiB)`, sorted by bytes. */
function describeTypes({ tensors }: Model): string {
  const sums = new Map<string, { count: number; bytes: number }>()
  for (const { dtype, encoding, data } of tensors) {
    const { id } = encoding ?? dtype
    const sum = sums.get(id) ?? { count: 0, bytes: 0 }
    sums.set(id, { count: sum.count + 1, bytes: sum.bytes + (data?.byteLength ?? 0) })
  }
  const sorted = [...sums].sort(([, a], [, b]) => b.bytes - a.bytes)
  return sorted.map(([id, { count, bytes }]) => `${id} ${formatInteger(count)} (${formatSize(bytes)})`).join(' · ')
}
