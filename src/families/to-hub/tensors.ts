// The tensors of a GGUF file as those of a directory: each under the name that its library has for it, with its elements where that library
// looks for them. Nothing is read here.
import { dtypeById, f32 } from '../../dtypes/index.js'
import { callerWord, failWith } from '../../errors/index.js'
import type { Tensor } from '../../model/index.js'
import { dequantizeTensor, isQuantized, whyNotDequantized } from '../../transforms/dequantize.js'
import { fileOf } from '../../transforms/map-elements.js'
import type { Change } from '../changes.js'
import { familyCodes } from '../codes.js'
import type { ModelConfig } from '../config.js'
import { inverses } from '../inverses.js'
import { refuseShape, viewed } from '../views.js'
import { type Origin, originsIn, publishedName } from './names.js'
import { ropeTensors } from './rope.js'
import { unpacked } from './unpack-mxfp4.js'

export interface BackOptions {
  /** Which quantized tensors become f32. All others are refused. */
  readonly isDequantized: (name: string) => boolean
}

export interface PublishedTensors {
  readonly tensors: readonly Tensor[]
  readonly changes: readonly Change[]
  readonly hasMxfp4: boolean
}

const mxfp4 = dtypeById('ggml.mxfp4')!

export function publishTensors(
  tensors: readonly Tensor[],
  info: ModelConfig,
  { isDequantized }: BackOptions,
): PublishedTensors {
  const { family } = info
  const originOf = originsIn(family)
  const made: Tensor[] = []
  const changes: Change[] = []
  const groups = new Map<string, { readonly origin: Origin; readonly parts: Tensor[] }>()
  let hasMxfp4 = false
  for (const stored of tensors) {
    if (ropeTensors.has(stored.name)) {
      const reason = 'config.json has what it follows from'
      changes.push({ subject: 'tensor', name: stored.name, action: 'map', loss: 'none', reason })
      continue
    }
    const origin = requireOrigin(stored, originOf(stored.name), info)
    const staysPacked = family.mxfp4 === true && stored.dtype === mxfp4 && !isDequantized(stored.name)
    const tensor = staysPacked || !isQuantized(stored) ? stored : decoded(stored, isDequantized, changes)
    const key = JSON.stringify([origin.pattern, origin.layer, origin.suffix])
    const group = groups.get(key) ?? { origin, parts: [] }
    groups.set(key, group)
    group.parts[origin.part] = tensor
    if (origin.names.some((_, part) => !group.parts[part])) continue
    groups.delete(key)
    const parts = group.parts as [Tensor, ...Tensor[]]
    hasMxfp4 ||= staysPacked
    const results = staysPacked
      ? unpacked(publishedName(family, info.className, origin), parts)
      : published(parts, origin, info)
    for (const each of results) made.push(each)
    for (const { name } of parts) {
      const to = results.length === 1 ? results[0]!.name : `${results[0]!.name} and ${results.length - 1} more`
      changes.push({ subject: 'tensor', name, action: 'rename', loss: 'none', from: name, to })
    }
  }
  assertWhole(groups.values())
  return { tensors: made, changes, hasMxfp4 }
}

function requireOrigin(tensor: Tensor, origin: Origin | undefined, { family, layers }: ModelConfig): Origin {
  const refuse = (message: string): never =>
    failWith(familyCodes['tensor-unknown'], { file: fileOf(tensor.data), path: tensor.name, message })
  const advice = `${callerWord('--as-is', 'asIs: true')} copies everything as it is`
  if (!origin) return refuse(`${family.classes[0]} has no tensor that this could be made of; ${advice}`)
  if (origin.layer >= layers)
    refuse(`it is in layer ${origin.layer}, and ${family.architecture}.block_count says that there are ${layers}`)
  return origin
}

function decoded(tensor: Tensor, isDequantized: (name: string) => boolean, changes: Change[]): Tensor {
  const from = (tensor.encoding ?? tensor.dtype).id
  const why = whyNotDequantized(tensor)
  if (!isDequantized(tensor.name) || why !== undefined) {
    const advice = `${callerWord('--dequantize', "dequantize: ['*']")} stores its values as f32, with ${callerWord('--cast bf16', "cast: 'bf16'")} as bf16`
    const message = `a directory of the hub has no place for ${from}: ${why ?? advice}`
    failWith(familyCodes.quantization, { file: fileOf(tensor.data), path: tensor.name, message })
  }
  const change = { action: 'dequantize', loss: 'none', requested: true, from, to: f32.id } as const
  changes.push({ subject: 'tensor', name: tensor.name, ...change })
  return dequantizeTensor(tensor, f32)
}

function published(parts: readonly [Tensor, ...Tensor[]], origin: Origin, info: ModelConfig): readonly Tensor[] {
  const { rule } = origin
  if (rule.stack) return unstacked(parts[0], origin, info)
  const tensor = rule.by ? inverses[rule.by](parts, info) : parts[0]
  return [{ ...tensor, name: publishedName(info.family, info.className, origin) }]
}

/** One tensor for each expert. */
function unstacked(tensor: Tensor, origin: Origin, { family, className }: ModelConfig): readonly Tensor[] {
  const [experts = 0, ...shape] = tensor.shape
  if (shape.length === 0) refuseShape(tensor, 'experts were expected along its first dimension')
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((product, each) => product * each, 1))
  const size = (strides[0] ?? 1) * shape[0]!
  return Array.from({ length: experts }, (_, expert) => ({
    ...viewed(tensor, { shape, dims: shape, strides, start: expert * size }),
    name: publishedName(family, className, origin, expert),
  }))
}

function assertWhole(groups: Iterable<{ readonly origin: Origin; readonly parts: readonly Tensor[] }>): void {
  for (const { origin, parts } of groups) {
    const there = parts.find(Boolean)!
    const missing = origin.names.find((_, part) => !parts[part])!
    const message = `${there.name} is there without it`
    failWith(familyCodes['tensor-missing'], { file: fileOf(there.data), path: missing, message })
  }
}
