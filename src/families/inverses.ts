// The ways back of the transforms: from the tensors that GGUF has to the one that it was made of.
import { f32 } from '../dtypes/index.js'
import type { Payload, Tensor } from '../model/index.js'
import { bytesPayload } from '../model/index.js'
import { castTensor } from '../transforms/cast.js'
import { concatenated } from './concatenated.js'
import { singleLog } from './exponential.js'
import { numberIn } from './facts.js'
import type { TransformName } from './family.js'
import { interleaved } from './interleaved.js'
import {
  computed,
  groupsOf,
  headsOf,
  kvHeadsOf,
  linearHeads,
  linearValues,
  plus,
  qkvGroups,
  rotatedParts,
  type Shapes,
  swapped,
  three,
  tiled,
  tiledValues,
} from './transforms.js'
import { narrowed, rearranged, refuseShape } from './views.js'

/** From one tensor for each name of the rule to the tensor of the directory. */
export type Inverse = (parts: readonly [Tensor, ...Tensor[]], shapes: Pick<Shapes, 'config'>) => Tensor

const same: Inverse = ([tensor]) => tensor

export const inverses: Readonly<Record<TransformName, Inverse>> = {
  'permute-heads': ([tensor], { config }) => unpermuted(tensor, headsOf(tensor, config)),
  'permute-kv-heads': ([tensor], { config }) => unpermuted(tensor, kvHeadsOf(tensor, config)),
  'rotated-halves': ([tensor], { config }) => {
    const heads = headsOf(tensor, config)
    return rotatedParts(tensor, config, heads, (part) => [heads, 2, part / 2])
  },
  'rotated-kv-halves': ([tensor], { config }) => {
    const heads = kvHeadsOf(tensor, config)
    return rotatedParts(tensor, config, heads, (part) => [heads, 2, part / 2])
  },
  'plus-one': ([tensor]) => plus(tensor, -1),
  transpose: ([tensor]) =>
    tensor.shape.length === 2 ? rearranged(tensor, tensor.shape, [1, 0], swapped(tensor.shape)) : tensor,
  'regroup-qkv': ([tensor], { config }) => grouped(tensor, headsOf(tensor, config)),
  'regroup-grouped-qkv': ([tensor], { config }) => groupedAgain(tensor, config),
  'split-halves': (parts) => {
    const axis = parts[0].shape.length - 2
    if (axis < 0) refuseShape(parts[0], 'two dimensions or more were expected')
    return joined(parts, axis, elementsFrom(parts[0], axis))
  },
  'split-alternate': (parts) => joined(parts, parts[0].shape.length - 1, 1),
  'transpose-last': ([tensor]) => turned(tensor),
  'transpose-split-alternate': (parts) => {
    const [first, ...rest] = parts
    return joined([turned(first), ...rest.map(turned)], 2, 1)
  },
  'transpose-split-halves': (parts) => {
    const [first, ...rest] = parts
    return joined([turned(first), ...rest.map(turned)], 2, parts[0].shape[1] ?? 0)
  },
  'split-kv-b': ([k, v], { config }) => joinedKvB(k, v!, config),
  'split-qkv': ([q, k, v], { config }) => {
    const heads = headsOf(q, config)
    return below([unpermuted(q, heads), unpermuted(k!, heads), v!])
  },
  'split-grouped-qkv': ([q, k, v], { config }) => {
    const [ofQ, ofK] = [unpermuted(q, headsOf(q, config)), unpermuted(k!, groupsOf(config))]
    return groupedAgain(below([ofQ, ofK, v!]), config)
  },
  'vocabulary-rows': same,
  'skip-padding-positions': ([tensor], { config }) => withPadding(tensor, (numberIn(config, 'pad_token_id') ?? -1) + 1),
  'zero-bias': same,
  squeeze: ([tensor]) => {
    const [channels = 0, width = 0] = tensor.shape
    if (tensor.shape.length !== 2) refuseShape(tensor, 'two dimensions were expected')
    return { ...tensor, shape: [channels, 1, width] }
  },
  'minus-exp': ([tensor]) => logarithm(tensor),
  'minus-exp-column': ([tensor]) => flat(logarithm(tensor)),
  column: ([tensor]) => flat(tensor),
  'norm-groups': ([tensor]) => flat(tensor),
  'expert-rows': ([tensor]) => belowEachOther(tensor),
  'expert-rows-transposed': ([tensor]) => belowEachOther(turned(tensor)),
  'split-qkvz': ([qkv, z], { config }) => joinedQkvz(qkv, z!, config),
  'pad-vocabulary': same,
  'tile-heads': ([tensor], { config }) => untiled(tensor, 0, linearValues(tensor, config)),
  'tile-columns': ([tensor], { config }) => untiled(tensor, 1, linearValues(tensor, config)),
  'tile-values': ([tensor], { config }) => tiledValues(tensor, config, untiled),
  'squeeze-tile-values': ([tensor], { config }) => {
    const [channels = 0, width = 0] = tensor.shape
    if (tensor.shape.length !== 2) refuseShape(tensor, 'two dimensions were expected')
    return { ...tiledValues(tensor, config, untiled), shape: [channels, 1, width] }
  },
  'minus-exp-tile-heads': ([tensor], { config }) => logarithm(untiled(tensor, 0, linearValues(tensor, config))),
  'split-joined-qkv': ([q, k, v], { config }) =>
    below([unpermuted(q, headsOf(q, config)), unpermuted(k!, kvHeadsOf(k!, config)), v!]),
}

/** Turns that are taken by each are turns that are taken by groups. */
const untiled: typeof tiled = (tensor, axis, [groups, each]) => tiled(tensor, axis, [each, groups])

const logarithm = (tensor: Tensor): Tensor => computed(tensor, (value) => singleLog(-value))

const flat = (tensor: Tensor): Tensor => ({ ...tensor, shape: [elementsFrom(tensor, 0)] })

function belowEachOther(tensor: Tensor): Tensor {
  const [experts, rows, columns] = three(tensor)
  return { ...tensor, shape: [experts * rows, columns] }
}

/** Rows of each head from pairs to halves. */
function unpermuted(tensor: Tensor, heads: number): Tensor {
  const rows = tensor.shape[0] ?? 0
  const half = rows / heads / 2
  if (!Number.isInteger(half)) refuseShape(tensor, `its rows are not pairs in each of ${heads} heads`)
  return rearranged(tensor, [heads, half, 2, elementsFrom(tensor, 1)], [0, 2, 1, 3])
}

/** From all q, all k, all v to q, k, v of each head. */
function grouped(tensor: Tensor, heads: number): Tensor {
  const size = (tensor.shape[0] ?? 0) / heads / 3
  if (!Number.isInteger(size)) refuseShape(tensor, `its rows are not three parts for each of ${heads} heads`)
  return rearranged(tensor, [3, heads, size, elementsFrom(tensor, 1)], [1, 0, 2, 3])
}

/** From all q, all k, all v to those of each group. */
function groupedAgain(tensor: Tensor, config: Shapes['config']): Tensor {
  const { groups, q, head } = qkvGroups(tensor, config)
  const rows = [q, head, head]
  const starts = [0, groups * q, groups * (q + head)]
  const parts = starts.map((start, i) => narrowed(tensor, 0, start, groups * rows[i]!).data!)
  const row = tensor.shape[1]! * elementBytes(tensor)
  const data = interleaved(
    parts,
    rows.map((each) => each * row),
  )
  return { ...tensor, data }
}

/** From all q, k, v and the gates to those of each head of k. */
function joinedQkvz(qkv: Tensor, z: Tensor, config: Shapes['config']): Tensor {
  const [first, second] = alike([qkv, z]) as readonly [Tensor, Tensor]
  const whole = below([first, second])
  const { groups, key, value } = linearHeads(whole, config)
  const q = groups * key
  const parts = [narrowed(first, 0, 0, q), narrowed(first, 0, q, q), narrowed(first, 0, 2 * q, groups * value), second]
  const row = whole.shape[1]! * elementBytes(whole)
  const data = interleaved(
    parts.map((part) => part.data!),
    [key, key, value, value].map((rows) => rows * row),
  )
  return { ...whole, data }
}

/** One matrix below the other. */
function below(given: readonly [Tensor, ...Tensor[]]): Tensor {
  const parts = alike(given)
  const [first] = parts
  for (const part of parts)
    if (part.shape.length !== 2 || part.shape[1] !== first.shape[1])
      refuseShape(part, `it belongs to ${first.name}, of shape [${first.shape.join(', ')}]`)
  const rows = parts.reduce((sum, { shape }) => sum + shape[0]!, 0)
  const data = concatenated(
    parts.map(({ data }) => data!),
    first.name,
  )
  return { ...first, shape: [rows, first.shape[1]!], data }
}

const turned = (tensor: Tensor): Tensor => rearranged(tensor, three(tensor), [0, 2, 1], swapped(tensor.shape))

/** How many elements one entry of the axis before has. */
const elementsFrom = ({ shape }: Tensor, axis: number): number =>
  shape.slice(axis).reduce((product, each) => product * each, 1)

/** Tensors of one shape, joined along an axis, with runs of this many elements of each in turns. */
function joined(given: readonly [Tensor, ...Tensor[]], axis: number, run: number): Tensor {
  const parts = alike(given)
  const [first] = parts
  for (const part of parts) {
    const isSame = part.shape.length === first.shape.length && part.shape.every((size, i) => size === first.shape[i])
    if (!isSame) refuseShape(part, `it belongs to ${first.name}, of shape [${first.shape.join(', ')}]`)
  }
  const bytes = run * elementBytes(first)
  const data = interleaved(
    parts.map(({ data }) => data!),
    parts.map(() => bytes),
  )
  return { ...first, shape: first.shape.with(axis, first.shape[axis]! * parts.length), data }
}

/** Of one type: where only some could be quantized, others are half as wide. */
function alike(parts: readonly [Tensor, ...Tensor[]]): readonly [Tensor, ...Tensor[]] {
  const [first, ...rest] = parts
  if (rest.every(({ dtype }) => dtype === first.dtype)) return parts
  return [castTensor(first, f32), ...rest.map((part) => castTensor(part, f32))]
}

function elementBytes(tensor: Tensor): number {
  const { bytes, elements } = tensor.dtype.group
  if (elements !== 1) refuseShape(tensor, `${tensor.dtype.id} does not store elements one by one`)
  return bytes
}

/** Every head's rows for k, turned back, and its rows for v. */
function joinedKvB(storedK: Tensor, storedV: Tensor, config: Shapes['config']): Tensor {
  const [k, v] = alike([storedK, storedV]) as readonly [Tensor, Tensor]
  const [heads, rank, forK] = three(k)
  const [headsOfV, forV, rankOfV] = three(v)
  if (headsOfV !== heads || rankOfV !== rank || heads !== kvHeadsOf(k, config))
    refuseShape(v, `it belongs to ${k.name}, of shape [${k.shape.join(', ')}]`)
  const size = elementBytes(k)
  const data = interleaved([turned(k).data!, v.data!], [forK * rank * size, forV * rank * size])
  return { ...k, shape: [heads * (forK + forV), rank], data }
}

/** Rows that no text uses are zero. */
function withPadding(tensor: Tensor, rows: number): Tensor {
  if (rows === 0) return tensor
  const zeros: Payload = bytesPayload(new Uint8Array(rows * elementsFrom(tensor, 1) * elementBytes(tensor)))
  const shape = tensor.shape.with(0, tensor.shape[0]! + rows)
  return { ...tensor, shape, data: concatenated([zeros, tensor.data!], tensor.name) }
}
