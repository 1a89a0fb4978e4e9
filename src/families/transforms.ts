// What becomes of the elements of a tensor on the way to GGUF, by name; `inverses` has the ways back.
import { fillView, viewOf } from '../bytes/views.js'
import { f16, f32 } from '../dtypes/index.js'
import { bytesPayload, type Payload, type Tensor } from '../model/index.js'
import { castTensor } from '../transforms/cast.js'
import { mapElements } from '../transforms/map-elements.js'
import { concatenated } from './concatenated.js'
import { singleExp } from './exponential.js'
import { isObject, numberIn } from './facts.js'
import type { Config, RowFactors, TransformName } from './family.js'
import { interleaved } from './interleaved.js'
import { narrowed, rearranged, refuseShape, viewed } from './views.js'

/** What transforms can ask about the model. */
export interface Shapes {
  readonly config: Config
  /** How many tokens the vocabulary has. */
  readonly tokens: number
}

/** One tensor for each name of the rule; none where the tensor is left out. */
export type Transform = (tensor: Tensor, shapes: Shapes) => readonly Tensor[]

export const transforms: Readonly<Record<TransformName, Transform>> = {
  'permute-heads': (tensor, { config }) => [permuted(tensor, headsOf(tensor, config))],
  'permute-kv-heads': (tensor, { config }) => [permuted(tensor, kvHeadsOf(tensor, config))],
  'rotated-halves': (tensor, { config }) => [rotatedHalves(tensor, config, headsOf(tensor, config))],
  'rotated-kv-halves': (tensor, { config }) => [rotatedHalves(tensor, config, kvHeadsOf(tensor, config))],
  'plus-one': (tensor) => [plus(tensor, 1)],
  transpose: (tensor) => [tensor.shape.length === 2 ? transposed(tensor) : tensor],
  'regroup-qkv': (tensor, { config }) => [regrouped(tensor, headsOf(tensor, config))],
  'regroup-grouped-qkv': (tensor, { config }) => [ungrouped(tensor, config)],
  'split-halves': (tensor) => {
    const axis = tensor.shape.length - 2
    const half = halfOf(tensor, axis)
    return [narrowed(tensor, axis, 0, half), narrowed(tensor, axis, half, half)]
  },
  'split-alternate': (tensor) => {
    const axis = tensor.shape.length - 1
    const half = halfOf(tensor, axis)
    return [narrowed(tensor, axis, 0, half, 2), narrowed(tensor, axis, 1, half, 2)]
  },
  'transpose-last': (tensor) => [rearranged(tensor, three(tensor), [0, 2, 1], swapped(tensor.shape))],
  'transpose-split-alternate': (tensor) => {
    const [experts, inner, both] = three(tensor)
    const half = halfOf(tensor, 2)
    const shape = [experts, half, inner]
    const strides = [inner * both, 2, both]
    return [0, 1].map((start) => viewed(tensor, { shape, dims: shape, strides, start }))
  },
  'transpose-split-halves': (tensor) => {
    const [experts, inner, both] = three(tensor)
    const half = halfOf(tensor, 2)
    const shape = [experts, half, inner]
    const strides = [inner * both, 1, both]
    return [0, half].map((start) => viewed(tensor, { shape, dims: shape, strides, start }))
  },
  'split-kv-b': (tensor, { config }) => splitKvB(tensor, config),
  'split-qkv': (tensor, { config }) => {
    const rows = (tensor.shape[0] ?? 0) / 3
    if (!Number.isInteger(rows)) refuseShape(tensor, 'its rows are not three parts')
    const [q, k, v] = [0, 1, 2].map((part) => narrowed(tensor, 0, part * rows, rows)) as [Tensor, Tensor, Tensor]
    const heads = headsOf(tensor, config)
    return [permuted(q, heads), permuted(k, heads), v]
  },
  'split-grouped-qkv': (tensor, { config }) => {
    const { groups, q, head } = qkvGroups(tensor, config)
    const columns = tensor.shape[1]!
    const part = (start: number, rows: number): Tensor =>
      rowsOfGroups(tensor, { groups, pitch: q + 2 * head, start, rows, columns })
    return [permuted(part(0, q), (groups * q) / head), permuted(part(q, head), groups), part(q + head, head)]
  },
  'vocabulary-rows': (tensor, { tokens }) => {
    const rows = tensor.shape[0] ?? 0
    return [rows > tokens ? narrowed(tensor, 0, 0, tokens) : tensor]
  },
  'skip-padding-positions': (tensor, { config }) => {
    const pad = numberIn(config, 'pad_token_id')
    const rows = tensor.shape[0] ?? 0
    if (pad === undefined) return [tensor]
    if (rows <= pad + 1) refuseShape(tensor, `the first ${pad + 1} rows stand for padding, and no others follow`)
    return [narrowed(tensor, 0, pad + 1, rows - pad - 1)]
  },
  'zero-bias': (tensor) => (tensor.name.endsWith('.bias') ? [] : [tensor]),
  squeeze: (tensor) => {
    const [channels, one, width] = three(tensor)
    if (one !== 1) refuseShape(tensor, 'its second dimension is not 1')
    return [{ ...tensor, shape: [channels, width] }]
  },
  'minus-exp': (tensor) => [minusExp(tensor)],
  'minus-exp-column': (tensor) => [column(minusExp(tensor))],
  column: (tensor) => [column(tensor)],
  'norm-groups': (tensor, { config }) => {
    const groups = numberIn(config, 'n_groups', 'mamba_n_groups') ?? 1
    const size = (tensor.shape[0] ?? 0) / groups
    if (tensor.shape.length !== 1 || !Number.isInteger(size)) refuseShape(tensor, `it does not have ${groups} groups`)
    return [{ ...tensor, shape: [groups, size] }]
  },
  'expert-rows': (tensor, { config }) => [expertRows(tensor, config)],
  'expert-rows-transposed': (tensor, { config }) => {
    const [experts, rows, columns] = three(expertRows(tensor, config))
    return [rearranged(tensor, [experts, rows, columns], [0, 2, 1], [experts, columns, rows])]
  },
  'split-joined-qkv': (tensor, { config }) => {
    const [heads, kvHeads] = [headsOf(tensor, config), kvHeadsOf(tensor, config)]
    const rows = tensor.shape[0] ?? 0
    const head = rows / (heads + 2 * kvHeads)
    if (!Number.isInteger(head)) refuseShape(tensor, `${heads} heads of q and ${kvHeads} of k and v were expected`)
    const part = (start: number, count: number): Tensor => narrowed(tensor, 0, start * head, count * head)
    const [q, k, v] = [part(0, heads), part(heads, kvHeads), part(heads + kvHeads, kvHeads)]
    return [permuted(q, heads), permuted(k, kvHeads), v]
  },
  'split-qkvz': (tensor, { config }) => {
    const { groups, key, value } = linearHeads(tensor, config)
    const columns = tensor.shape[1]!
    const part = (start: number, rows: number): Tensor =>
      rowsOfGroups(tensor, { groups, pitch: 2 * (key + value), start, rows, columns })
    const [q, k, v] = [part(0, key), part(key, key), part(2 * key, value)]
    const data = concatenated([q.data!, k.data!, v.data!], tensor.name)
    return [{ ...tensor, shape: [groups * (2 * key + value), columns], data }, part(2 * key + value, value)]
  },
  'tile-heads': (tensor, { config }) => [tiled(tensor, 0, linearValues(tensor, config))],
  'tile-columns': (tensor, { config }) => [tiled(tensor, 1, linearValues(tensor, config))],
  'tile-values': (tensor, { config }) => [tiledValues(tensor, config, tiled)],
  'squeeze-tile-values': (tensor, { config }) => {
    const [channels, one, width] = three(tensor)
    if (one !== 1) refuseShape(tensor, 'its second dimension is not 1')
    return [tiledValues({ ...tensor, shape: [channels, width] }, config, tiled)]
  },
  'minus-exp-tile-heads': (tensor, { config }) => [tiled(minusExp(tensor), 0, linearValues(tensor, config))],
  'pad-vocabulary': (tensor, { config }) => {
    const [rows = 0, columns = 0] = tensor.shape
    const missing = (numberIn(config, 'vocab_size') ?? rows) - rows
    if (tensor.shape.length !== 2 || missing <= 0) return [tensor]
    if (!(missing <= maxPadding)) refuseShape(tensor, `vocab_size is larger by ${missing}`)
    const size = tensor.dtype.byteLength([1, columns]) ?? 0
    const zeros = bytesPayload(new Uint8Array(missing * size))
    return [{ ...tensor, shape: [rows + missing, columns], data: concatenated([tensor.data!, zeros], tensor.name) }]
  },
}

/** Tokens that stand for pictures and sounds have no embeddings of their own; there are some hundred. */
const maxPadding = 4096

/** How many heads of k there are, and how many of v go with each. */
export type LinearValues = readonly [groups: number, each: number]

export function linearValues(tensor: Tensor, config: Config): LinearValues {
  const groups = required(tensor, config, 'linear_num_key_heads')
  const each = required(tensor, config, 'linear_num_value_heads') / groups
  if (!Number.isInteger(each)) refuseShape(tensor, `a whole number of heads of v for each of ${groups} was expected`)
  return [groups, each]
}

/** Heads of v along an axis, from those of each head of k side by side to taking turns. */
export function tiled(tensor: Tensor, axis: 0 | 1, [groups, each]: LinearValues): Tensor {
  const length = tensor.shape[axis] ?? 0
  const size = length / groups / each
  if (!Number.isInteger(size)) refuseShape(tensor, `${groups * each} heads along dimension ${axis} were expected`)
  const outer = axis === 0 ? 1 : tensor.shape[0]!
  const inner = tensor.shape.slice(axis + 1).reduce((product, each) => product * each, 1)
  return rearranged(tensor, [outer, groups, each, size, inner], [0, 2, 1, 3, 4])
}

/** The same for the rows of v, which follow those of q and k. */
export function tiledValues(tensor: Tensor, config: Config, tile: typeof tiled): Tensor {
  const [groups, each] = linearValues(tensor, config)
  const before = 2 * groups * required(tensor, config, 'linear_key_head_dim')
  const rows = tensor.shape[0] ?? 0
  if (rows <= before) refuseShape(tensor, `${before} rows of q and k, and others of v were expected`)
  const values = tile(narrowed(tensor, 0, before, rows - before), 0, [groups, each])
  const data = concatenated([narrowed(tensor, 0, 0, before).data!, values.data!], tensor.name)
  return { ...tensor, data }
}

export interface LinearHeads {
  /** Heads of k. */
  readonly groups: number
  /** Rows that one of them has in q and in k, and in v and in the gate. */
  readonly key: number
  readonly value: number
}

/** Linear attention: each head of k goes with one of q and several of v. */
export function linearHeads(tensor: Tensor, config: Config): LinearHeads {
  const number = (name: string): number => required(tensor, config, name)
  const groups = number('linear_num_key_heads')
  const key = number('linear_key_head_dim')
  const value = (number('linear_num_value_heads') / groups) * number('linear_value_head_dim')
  const fits = Number.isInteger(value) && tensor.shape.length === 2 && tensor.shape[0] === 2 * groups * (key + value)
  if (!fits) refuseShape(tensor, `${groups} heads of q, k, v and a gate were expected`)
  return { groups, key, value }
}

const column = (tensor: Tensor): Tensor => ({ ...tensor, shape: [...tensor.shape, 1] })

/** All experts below each other, as three dimensions. */
function expertRows(tensor: Tensor, config: Config): Tensor {
  const [rows = 0, columns = 0] = tensor.shape
  const experts = required(tensor, config, 'num_local_experts', 'num_experts')
  if (tensor.shape.length !== 2 || rows % experts !== 0) refuseShape(tensor, `rows of ${experts} experts were expected`)
  return { ...tensor, shape: [experts, rows / experts, columns] }
}

const minusExp = (tensor: Tensor): Tensor => computed(tensor, (value) => -singleExp(value))

/**
 * Rows of each head from halves to pairs: the hub's models rotate element j together with j + h/2, llama.cpp rotates neighbours. Row 2j of a
 * head is then what row j was, and row 2j + 1 what row j + h/2 was.
 */
function permuted(tensor: Tensor, heads: number): Tensor {
  const [rows = 0, ...rest] = tensor.shape
  const half = rows / heads / 2
  if (!Number.isInteger(half)) refuseShape(tensor, `its rows are not pairs in each of ${heads} heads`)
  const columns = rest.reduce((product, each) => product * each, 1)
  return rearranged(tensor, [heads, 2, half, columns], [0, 2, 1, 3])
}

/** Rows of the rotated part of each head from pairs to halves. */
function rotatedHalves(tensor: Tensor, config: Config, heads: number): Tensor {
  return rotatedParts(tensor, config, heads, (part) => [heads, part / 2, 2])
}

/** The rows of each head that are rotated, regrouped, and behind them those that are not. */
export function rotatedParts(
  tensor: Tensor,
  config: Config,
  heads: number,
  dims: (rows: number) => readonly [number, number, number],
): Tensor {
  const [rows = 0, ...rest] = tensor.shape
  const head = rows / heads
  const part = Math.trunc(head * rotatedShare(config))
  if (!Number.isInteger(head) || part % 2 !== 0 || part > head)
    refuseShape(tensor, `its rows are not pairs in each of ${heads} heads`)
  const columns = rest.reduce((product, each) => product * each, 1)
  const [outer, ...inner] = dims(part)
  const stride = head * columns
  const [first, second] = inner
  const taken = [outer, second, first, columns]
  const turned = viewed(tensor, {
    shape: [heads * part, ...rest],
    dims: taken,
    strides: [stride, columns, second * columns, 1],
  })
  if (part === head) return { ...turned, shape: tensor.shape }
  const still = viewed(tensor, {
    shape: [heads * (head - part), ...rest],
    dims: [heads, head - part, columns],
    strides: [stride, columns, 1],
    start: part * columns,
  })
  const size = columns * (tensor.dtype.byteLength([1]) ?? 0)
  const data = interleaved([turned.data!, still.data!], [part * size, (head - part) * size])
  return { ...tensor, data }
}

function rotatedShare(config: Config): number {
  const rope = isObject(config.rope_parameters) ? config.rope_parameters : config.rope_scaling
  return (
    (isObject(rope) ? numberIn(rope, 'partial_rotary_factor') : undefined) ??
    numberIn(config, 'partial_rotary_factor') ??
    0.5
  )
}

const transposed = (tensor: Tensor): Tensor => rearranged(tensor, tensor.shape, [1, 0], swapped(tensor.shape))

/** From q, k, v of each head to all q, all k, all v. */
function regrouped(tensor: Tensor, heads: number): Tensor {
  const [rows = 0, ...rest] = tensor.shape
  const size = rows / heads / 3
  if (!Number.isInteger(size)) refuseShape(tensor, `its rows are not three parts for each of ${heads} heads`)
  const columns = rest.reduce((product, each) => product * each, 1)
  return rearranged(tensor, [heads, 3, size, columns], [1, 0, 2, 3])
}

export interface QkvGroups {
  readonly groups: number
  /** Rows of one group that are q; as many as `head` are k, and as many v. */
  readonly q: number
  readonly head: number
}

/** Heads of k and v. */
export const groupsOf = (config: Config): number =>
  numberIn(config, 'num_kv_heads', 'n_head_kv', 'num_key_value_heads') || 1

/** Several heads of q share one of k and v, and stand before them. */
export function qkvGroups(tensor: Tensor, config: Config): QkvGroups {
  const heads = headsOf(tensor, config)
  const groups = groupsOf(config)
  const [rows = 0, columns = 0] = tensor.shape
  const head = columns / heads
  const fits = tensor.shape.length === 2 && Number.isInteger(groups) && groups > 0 && heads % groups === 0
  if (!fits || !Number.isInteger(head) || rows !== (heads + 2 * groups) * head)
    refuseShape(tensor, `${heads} heads of q and ${groups} of k and v were expected`)
  return { groups, q: (heads / groups) * head, head }
}

interface GroupRows {
  readonly groups: number
  /** Rows of one group. */
  readonly pitch: number
  /** The rows that are taken of each. */
  readonly start: number
  readonly rows: number
  readonly columns: number
}

/** Some rows of every group, one below the other. */
function rowsOfGroups(tensor: Tensor, { groups, pitch, start, rows, columns }: GroupRows): Tensor {
  const dims = [groups, rows, columns]
  const strides = [pitch * columns, columns, 1]
  return viewed(tensor, { shape: [groups * rows, columns], dims, strides, start: start * columns })
}

/** From q, k, v of each group to all q, all k, all v. */
function ungrouped(tensor: Tensor, config: Config): Tensor {
  const { groups, q, head } = qkvGroups(tensor, config)
  const columns = tensor.shape[1]!
  const part = (start: number, rows: number): Payload =>
    rowsOfGroups(tensor, { groups, pitch: q + 2 * head, start, rows, columns }).data!
  const data = concatenated([part(0, q), part(q, head), part(q + head, head)], tensor.name)
  return { ...tensor, data }
}

/** Every head's matrix that expands the compressed k and v: the rows for k, transposed, and those for v. */
function splitKvB(tensor: Tensor, config: Config): readonly Tensor[] {
  const [rows = 0, rank = 0] = tensor.shape
  const heads = kvHeadsOf(tensor, config)
  const [forK, forV] = [required(tensor, config, 'qk_nope_head_dim'), required(tensor, config, 'v_head_dim')]
  if (tensor.shape.length !== 2 || rows !== heads * (forK + forV))
    refuseShape(tensor, `${heads} heads of ${forK} + ${forV} rows were expected`)
  const perHead = (forK + forV) * rank
  const k = [heads, rank, forK]
  const v = [heads, forV, rank]
  return [
    viewed(tensor, { shape: k, dims: k, strides: [perHead, 1, rank] }),
    viewed(tensor, { shape: v, dims: v, strides: [perHead, rank, 1], start: forK * rank }),
  ]
}

export const plus = (tensor: Tensor, addend: number): Tensor => computed(tensor, (value) => value + addend)

/** Computed in the type that it has, if that is f16 or f32, else in f32. */
export function computed(tensor: Tensor, change: (value: number, index: number) => number): Tensor {
  const isHalf = tensor.dtype === f16
  const values = castTensor(tensor, f32)
  const data = mapElements({
    input: values.data!,
    shape: tensor.shape,
    from: f32.group,
    to: f32.group,
    convert(source, target, first, count) {
      const terms = viewOf(Float32Array, source, count)
      fillView(Float32Array, target, count, (results) => {
        for (let i = 0; i < count; i++) results[i] = change(terms[i]!, first + i)
      })
    },
  })
  const result: Tensor = { ...values, data }
  return isHalf ? castTensor(result, f16) : result
}

/** The nearest number that f16 has, of two equally near ones the even one. */
function roundToHalf(value: number): number {
  if (!Number.isFinite(value) || value === 0) return value
  const exponent = Math.max(Math.floor(Math.log2(Math.abs(value))), -14)
  const step = 2 ** (exponent - 10)
  const toWhole = 1.5 * 2 ** 52
  const rounded = (value / step + toWhole - toWhole) * step
  return Math.abs(rounded) > 65_504 ? Math.sign(value) * Infinity : rounded
}

/** Every element times all factors, rounded after each as torch does. */
export function multiplied(tensor: Tensor, factors: readonly (number | RowFactors)[]): Tensor {
  const columns = tensor.shape.at(-1) ?? 1
  const isHalf = tensor.dtype === f16
  const round = isHalf ? roundToHalf : Math.fround
  return computed(tensor, (value, index) => {
    let product = value
    const row = Math.floor(index / columns)
    for (const each of factors) {
      if (typeof each === 'number') product = round(Math.fround(product * Math.fround(each)))
      else if (row >= each.from && row < each.to) product = round(Math.fround(product * Math.fround(each.factor)))
    }
    return product
  })
}

export const swapped = (shape: readonly number[]): number[] => [...shape.slice(0, -2), shape.at(-1)!, shape.at(-2)!]

export function three(tensor: Tensor): [number, number, number] {
  const [a, b, c] = tensor.shape
  if (tensor.shape.length !== 3) refuseShape(tensor, 'three dimensions were expected')
  return [a!, b!, c!]
}

function halfOf(tensor: Tensor, axis: number): number {
  const length = tensor.shape[axis]
  if (length === undefined || length % 2 !== 0) refuseShape(tensor, `dimension ${axis} does not have two halves`)
  return length / 2
}

export function required(tensor: Tensor, config: Config, ...keys: readonly string[]): number {
  const value = numberIn(config, ...keys)
  if (value !== undefined && Number.isInteger(value) && value > 0) return value
  const stated = keys.find((key) => config[key] != null)
  if (stated === undefined) return refuseShape(tensor, `the configuration does not say what ${keys[0]} is`)
  return refuseShape(tensor, `${stated} is ${JSON.stringify(config[stated])} in the configuration`)
}

export const headsOf = (tensor: Tensor, config: Config): number =>
  required(tensor, config, 'n_heads', 'num_attention_heads', 'n_head')
export const kvHeadsOf = (tensor: Tensor, config: Config): number =>
  required(tensor, config, 'n_kv_heads', 'num_key_value_heads')
