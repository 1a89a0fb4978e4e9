// A model as text, in the notation of the OINF reference verifier: size variables, metadata, then every tensor with a few of its values,
// statistics and a histogram. Metadata types that OINF does not have are written in the same style.
import { countElements, defaultWindow, elementsIn, toHex } from '../bytes/index.js'
import type { DType } from '../dtypes/dtype.js'
import type { MetaList, MetaValue, Model, QuantParams, Tensor } from '../model/index.js'
import { formatDims } from '../model/model.js'
import type { WorkerPool } from '../threads/index.js'
import { formatNumber } from './format-number.js'
import { statsOfTensors } from './model-stats.js'
import {
  endsOf,
  formatList,
  formatPreview,
  formatScalar,
  planPreview,
  readElements,
  typeOf,
  whyUnreadable,
} from './preview.js'
import { onlyInfinity, roundAsReference } from './reference-stats.js'
import type { HistogramBin, NoStats, TensorStats } from './stats.js'

export interface ShowOptions {
  /** Selects tensors by name. Default: all. */
  readonly tensors?: ((name: string) => boolean) | undefined
  readonly signal?: AbortSignal | undefined
  /** Threads that compute statistics. */
  readonly pool?: WorkerPool | undefined
}

/** The text in pieces, including line ends. */
export async function* showModel(model: Model, options: ShowOptions = {}): AsyncGenerator<string, void, void> {
  const sizes = sizeVariables(model)
  if (sizes.length > 0) yield `${sizes.map(([name, value]) => `${name} := ${value}\n`).join('')}\n`
  for (const [key, value] of model.metadata) yield `${formatEntry(key, value)}\n`
  if (model.metadata.size > 0) yield '\n'
  const { tensors: isWanted, signal, pool } = options
  const shown = isWanted ? model.tensors.filter(({ name }) => isWanted(name)) : model.tensors
  const measured = statsOfTensors(shown.filter(hasStatistics), { signal, pool })
  try {
    for (const tensor of shown) {
      const stats = hasStatistics(tensor) ? ((await measured.next()).value as TensorStats | NoStats) : undefined
      yield `${await showTensor(tensor, stats, signal)}\n\n`
    }
  } finally {
    await measured.return()
  }
}

/** Whether statistics are shown beside the values. */
function hasStatistics(tensor: Tensor): boolean {
  return tensor.data !== null && countElements(tensor.shape)! > 1 && whyUnreadable(tensor) === undefined
}

/** In file order if the part keeps a Map; objects move names that look like numbers to the front. */
function sizeVariables({ parts }: Model): [name: string, value: unknown][] {
  return parts.flatMap(({ kind, value, content }): [string, unknown][] => {
    if (kind !== 'size-variables') return []
    return content instanceof Map ? [...content] : Object.entries(value as object)
  })
}

interface ExactBin {
  readonly low: bigint
  readonly high: bigint
  readonly count: number
}

/** Type ids as they are, except that OINF calls its only 8-bit float f8. */
const typeName = (id: string): string => (id === 'f8_e5m2' ? 'f8' : id)

const undecoded = ({ byteLength }: { readonly byteLength: number }): string => `${byteLength} bytes, values not decoded`

async function showTensor(
  tensor: Tensor,
  stats: TensorStats | NoStats | undefined,
  signal: AbortSignal | undefined,
): Promise<string> {
  const dtype = typeOf(tensor)
  const type = typeName(dtype.id)
  const head = `${tensor.name}: ${type}${formatDims(tensor)}`
  const quant = tensor.quant ? [formatQuant(tensor.quant)] : []
  if (!tensor.data) return [`${head} -- uninitialized`, ...quant].join('\n')
  // The reference stops here for an empty tensor that counts as having data, before it prints the quantization.
  if (tensor.shape.includes(0)) return `${head} -- uninitialized`
  if (whyUnreadable(tensor) !== undefined) {
    return [`${head} -- ${undecoded(tensor.data)}`, ...quant].join('\n')
  }
  const count = tensor.shape.reduce((product, dim) => product * dim, 1)
  if (!stats) {
    const [value] = await readElements(tensor, [0], signal)
    return `${tensor.name}: ${type} = ${formatScalar(value!, dtype.kind)}`
  }
  const plan = planPreview(tensor.shape, count)
  const elements = await readElements(tensor, plan.rows.flat(), signal)
  const values = elements.map((value) => formatScalar(value, dtype.kind))
  return [`${head} = ${formatPreview(plan, values)}`, ...(await statsLines(tensor, stats, signal)), ...quant].join('\n')
}

async function statsLines(
  tensor: Tensor,
  stats: TensorStats | NoStats,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const size = `nbytes: ${countElements(tensor.shape)! * decodedSize(typeOf(tensor))}`
  if (stats.reason !== undefined) return [`- [${size}]`]
  const items = [size]
  const rounded = await roundAsReference(tensor, stats, signal)
  for (const key of ['min', 'max', 'mean', 'median', 'std'] as const) {
    if (rounded[key] !== null) items.push(`${key}: ${formatNumber(rounded[key])}`)
  }
  const inf = stats.posInf + stats.negInf
  if (stats.nan + inf > 0 && onlyInfinity(stats) === undefined) items.push(`nan: ${stats.nan}`, `inf: ${inf}`)
  const bins = (await exactBins(tensor, stats.histogram, signal)) ?? rounded.histogram
  const shown = bins.filter((bin) => bin.count > 0 || typeOf(tensor).kind === 'bool')
  return [`- [${items.join(', ')}]`, `- hist: {${shown.map((bin) => formatBin(bin, typeOf(tensor))).join(', ')}}`]
}

/**
 * Statistics round 64-bit integers to f64. Where the bins are single integers beyond 2^53, they are counted again without rounding, as the
 * OINF tools do; an integer that no bin matches exactly is in none.
 */
async function exactBins(
  tensor: Tensor,
  bins: readonly HistogramBin[],
  signal: AbortSignal | undefined,
): Promise<ExactBin[] | undefined> {
  const { id } = typeOf(tensor)
  const [first, last] = [bins[0], bins.at(-1)]
  if (!first || !last || first.low !== first.high || (id !== 'i64' && id !== 'u64')) return undefined
  if (Math.max(Math.abs(first.low), Math.abs(last.high)) <= Number.MAX_SAFE_INTEGER) return undefined
  const low = BigInt(first.low)
  const counts = new Array<number>(Number(BigInt(last.high) - low) + 1).fill(0)
  for await (const chunk of tensor.data!.chunks(defaultWindow, signal)) {
    const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    for (let at = 0; at < chunk.byteLength; at += 8) {
      const value = id === 'i64' ? view.getBigInt64(at, true) : view.getBigUint64(at, true)
      const bin = Number(value - low)
      if (bin >= 0 && bin < counts.length) counts[bin]!++
    }
  }
  return counts.map((count, i) => ({ low: low + BigInt(i), high: low + BigInt(i), count }))
}

/** Bins of a single integer are printed exactly; other edges like any other number. */
function formatBin({ low, high, count }: HistogramBin | ExactBin, dtype: DType): string {
  const whole = low === high && dtype.kind !== 'float' && dtype.kind !== 'block'
  const [from, to] = [low, high].map((edge) => (whole ? BigInt(edge).toString() : formatNumber(Number(edge))))
  return `([${from}, ${to}], ${count})`
}

/** Bytes of one decoded element: short floats become f32, packed integers one byte each. */
function decodedSize(dtype: DType): number {
  const { elements, bytes } = dtype.group
  if (dtype.kind === 'block') return 4
  if (dtype.kind === 'float') return dtype.id === 'f16' ? 2 : Math.max(4, bytes / elements)
  return Math.max(1, bytes / elements)
}

function formatQuant({ scheme, axis, scales, zeroPoints }: QuantParams): string {
  const each = (values: readonly number[], format: (value: number) => string): string =>
    axis === undefined ? `per_tensor(${format(values[0]!)})` : `per_channel(axis=${axis}, count=${values.length})`
  const hasZeros = zeroPoints !== undefined && (zeroPoints.length > 0 || axis !== undefined)
  const zeroPoint = hasZeros ? each(zeroPoints, String) : 'none'
  return `- quant: scheme=${scheme}, scale=${each(scales, formatNumber)}, zero_point=${zeroPoint}`
}

function formatEntry(key: string, value: MetaValue): string {
  switch (value.type) {
    case 'null':
      return `${key}: null`
    case 'bitset':
      return `${key}: bitset[${value.bits}] = ${firstBytes(value.value, Math.ceil(value.bits / 8))}`
    case 'bytes':
      return `${key}: bytes[${value.value.byteLength}] = ${firstBytes(value.value, value.value.byteLength)}`
    case 'ndarray': {
      const head = `${key}: ${typeName(value.dtype.id)}${formatDims(value)}`
      const values = formatArray(value)
      return values === undefined ? `${head} -- ${undecoded(value.value)}` : `${head} = ${values}`
    }
    case 'array':
      return `${key}: ${value.item === 'mixed' ? 'array' : typeName(value.item)}[${value.length}] = ${formatValue(value)}`
    default:
      return `${key}: ${typeName(value.type)} = ${formatValue(value)}`
  }
}

/** A value without its type, as it appears in a list. */
function formatValue(value: MetaValue): string {
  switch (value.type) {
    case 'str':
      return `"${value.value}"`
    case 'json':
      return JSON.stringify(value.value)
    case 'null':
      return 'null'
    case 'bool':
      return String(value.value)
    case 'array':
      return formatItems(value)
    case 'bytes':
    case 'bitset':
      return firstBytes(value.value, value.value.byteLength)
    case 'ndarray':
      return formatArray(value) ?? firstBytes(value.value, value.value.byteLength)
    case 'f16':
    case 'bf16':
    case 'f8_e5m2':
    case 'f32':
    case 'f64':
      return formatNumber(value.value)
    default:
      return String(value.value)
  }
}

function formatItems(list: MetaList): string {
  const shown = endsOf(list.length)
  const isCut = shown.length < list.length
  const half = isCut ? shown.length / 2 : shown.length
  const between = (start: number, end: number): readonly MetaValue[] =>
    list.slice?.(start, end) ?? list.values().slice(start, end)
  const values = [...between(0, half), ...between(list.length - shown.length + half, list.length)]
  return formatList(values.map(formatValue), isCut)
}

/** The first four bytes as hex, like `0a ff 00 1b`. */
function firstBytes(bytes: Uint8Array, count: number): string {
  return Array.from(bytes.subarray(0, Math.min(4, count)), (byte) => toHex(Uint8Array.of(byte))).join(' ')
}

/** The values of an array, or undefined when they cannot be decoded. */
function formatArray({ dtype, shape, value }: Extract<MetaValue, { type: 'ndarray' }>): string | undefined {
  const { codec } = dtype
  const count = elementsIn(shape)
  if (!codec || count === undefined || (count > 0 && dtype.byteLength(shape) !== value.byteLength)) return undefined
  const plan = planPreview(shape, count)
  const values = plan.rows.flat().map((index) => formatScalar(codec.element(value, index), dtype.kind))
  return formatPreview(plan, values)
}
