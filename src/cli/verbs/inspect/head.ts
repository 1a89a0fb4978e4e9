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
  const { architecture, layers, hidden, heads, kvHeads, experts, context, vocabulary } = known
  const kv = kvHeads === undefined || kvHeads === heads ? '' : ` (${kvHeads} kv)`
  const facts = [
    architecture && escapeText(architecture),
    layers && plural(layers, 'layer'),
    hidden && `hidden ${hidden}`,
    heads && `${plural(heads, 'head')}${kv}`,
    experts && plural(experts, 'expert'),
    context && `context ${context}`,
    vocabulary && `vocabulary ${vocabulary}`,
  ]
  return facts.filter(Boolean).join(', ')
}

const tokensShown = 1024

/** `2.30 GiB for the weights, 4.00 GiB for a KV cache of 131,072 tokens (f16; 32.0 MiB per 1,024)` */
function describeMemory({ weightBytes, kvCache, architecture }: ModelSummary): string {
  if (weightBytes === 0) return ''
  const weights = `${formatSize(weightBytes)} for the weights`
  if (!kvCache) return weights
  const each = `${formatSize(kvCache.bytesPerToken * tokensShown)} per ${formatInteger(tokensShown)}`
  if (kvCache.bytes === undefined) return `${weights}, and for a KV cache of f16 ${each} tokens`
  const tokens = plural(architecture?.context ?? 0, 'token')
  return `${weights}, ${formatSize(kvCache.bytes)} for a KV cache of ${tokens} (f16; ${each})`
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
