// The tensors of a directory as those of a GGUF file: each under its new name, with its elements in the new order and of the new type. Nothing
// is read here but biases that have to be zero.
import { compareBytes } from '../../bytes/text.js'
import { callerWord, failWith } from '../../errors/index.js'
import { type Model, readPayload, type Tensor } from '../../model/index.js'
import { castLoss } from '../../transforms/cast.js'
import { fileOf } from '../../transforms/map-elements.js'
import type { Change } from '../changes.js'
import { familyCodes } from '../codes.js'
import type { ModelConfig } from '../config.js'
import { numberIn } from '../facts.js'
import { multiplied, transforms } from '../transforms.js'
import { type OutputType, prevailingType, typed } from './element-types.js'
import { ExpertStacks } from './experts.js'
import { repacked } from './mxfp4.js'
import { cleanName, type Match, matchName, targetNames } from './names.js'
import { inSourceOrder } from './source-order.js'
import { unpacked } from './unpacked.js'

export interface TensorOptions {
  /** Undefined: the type that most of the weights have. */
  readonly outputType: OutputType | undefined
  /** Names of the source have no order of their own. */
  readonly isSorted: boolean
  /** How many tokens the vocabulary has. */
  readonly tokens: number
  /** The configuration's file, for messages. */
  readonly file: string
  readonly signal?: AbortSignal | undefined
}

export interface ConvertedTensors {
  readonly tensors: readonly Tensor[]
  readonly changes: readonly Change[]
  readonly outputType: OutputType
  readonly hasMxfp4: boolean
}

export async function convertTensors(
  model: Model,
  info: ModelConfig,
  options: TensorOptions,
): Promise<ConvertedTensors> {
  const { family, config } = info
  const changes: Change[] = []
  const stored = await unpacked(inSourceOrder(model, options.isSorted), info, options.file, options.signal)
  const plain = keptTensors(stored, info, changes)
  const outputType = options.outputType ?? prevailingType(plain)
  const packed = info.family.mxfp4 ? mxfp4Tensors(plain, info) : []
  const tensors: Tensor[] = [...packed]
  const stacks = new ExpertStacks(info, options.file)
  const embedding =
    info.family.dropsEqualOutput && plain.find(({ name }) => targetOf(name, info) === 'token_embd.weight')
  const main = numberIn(config, 'num_hidden_layers') ?? info.layers
  for (const tensor of plain) {
    if (
      embedding &&
      targetOf(tensor.name, info) === 'output.weight' &&
      (await isEqual(embedding, tensor, options.signal))
    ) {
      const reason = 'it is the same as the embedding'
      changes.push({ subject: 'tensor', name: tensor.name, action: 'drop', loss: 'form', reason })
      continue
    }
    if (isMxfp4(tensor.name) && info.family.mxfp4) continue
    const match = requireMatch(tensor, info)
    const made = await convertOne(tensor, match, info, options)
    const castsRouters = family.castsRouters || (family.castsFurtherRouters && (match.layer ?? 0) >= main)
    const ready = made.flatMap((each) => {
      const final = typed(each, { outputType, castsRouters })
      note(tensor, final, changes, options.outputType !== undefined)
      return match.rule.stack ? stacks.add(final, match) : [final]
    })
    for (const each of ready) tensors.push(each)
  }
  stacks.assertComplete()
  return { tensors, changes, outputType, hasMxfp4: packed.length > 0 }
}

function targetOf(name: string, { family }: ModelConfig): string | undefined {
  const match = matchName(family.tensors, name)
  return match && targetNames(match)[0]
}

/** Compared piece by piece. */
async function isEqual(a: Tensor, b: Tensor, signal?: AbortSignal): Promise<boolean> {
  if (a.dtype !== b.dtype || a.data!.byteLength !== b.data!.byteLength) return false
  const others = b.data!.chunks(pieceBytes, signal)[Symbol.asyncIterator]()
  for await (const piece of a.data!.chunks(pieceBytes, signal)) {
    const { value } = await others.next()
    if (!value || compareBytes(piece, value) !== 0) {
      await others.return?.()
      return false
    }
  }
  return true
}

const pieceBytes = 1 << 20

/** In the order of the source, under the names that the tables have. */
function keptTensors(tensors: readonly Tensor[], info: ModelConfig, changes: Change[]): readonly Tensor[] {
  const kept: Tensor[] = []
  const [main, ...same] = info.family.sameTensors ?? []
  let hasMain = false
  for (const tensor of tensors) {
    const clean = cleanName(tensor.name, info)
    if ('name' in clean && main !== undefined && (clean.name === main || same.includes(clean.name))) {
      if (!hasMain) kept.push({ ...tensor, name: main })
      else
        changes.push({
          subject: 'tensor',
          name: tensor.name,
          action: 'drop',
          loss: 'form',
          reason: 'it is there twice',
        })
      hasMain = true
      continue
    }
    if ('why' in clean) {
      changes.push({ subject: 'tensor', name: tensor.name, action: 'drop', loss: 'form', reason: clean.why })
      continue
    }
    kept.push(clean.name === tensor.name ? tensor : { ...tensor, name: clean.name })
  }
  return kept
}

function requireMatch(tensor: Tensor, { family, layers }: ModelConfig): Match {
  const match = matchName(family.tensors, tensor.name)
  const refuse = (message: string): never =>
    failWith(familyCodes['tensor-unknown'], { file: fileOf(tensor.data), path: tensor.name, message })
  if (match?.layer !== undefined && match.layer >= layers) {
    refuse(`it is in layer ${match.layer}, and the configuration says that there are ${layers}`)
  }
  return (
    match ??
    refuse(
      `${family.classes[0]} has no tensor of this name; ${callerWord('--as-is', 'asIs: true')} copies everything as it is`,
    )
  )
}

async function convertOne(
  tensor: Tensor,
  match: Match,
  { config }: ModelConfig,
  { tokens, signal }: TensorOptions,
): Promise<readonly Tensor[]> {
  const { by, factors } = match.rule
  const given = factors ? multiplied(tensor, factors(config, tensor.shape)) : tensor
  const made = by ? transforms[by](given, { config, tokens }) : [given]
  if (made.length === 0) await assertZero(tensor, signal)
  const names = targetNames(match)
  return made.map((each, i) => ({ ...each, name: names[i]! }))
}

async function assertZero(tensor: Tensor, signal?: AbortSignal): Promise<void> {
  const bytes = await readPayload(tensor.data!, signal)
  if (bytes.every((byte) => byte === 0)) return
  const message = 'llama.cpp has no place for this bias, and it is not zero'
  failWith(familyCodes['tensor-unknown'], { file: fileOf(tensor.data), path: tensor.name, message })
}

const mxfp4Name = /^(.*\.experts\.)(down_proj|gate_up_proj)_(blocks|scales)$/
const isMxfp4 = (name: string): boolean => mxfp4Name.test(name)

/** Experts that are stored as MXFP4 come before everything else. */
function mxfp4Tensors(tensors: readonly Tensor[], { family }: ModelConfig): readonly Tensor[] {
  const blocks = new Map(tensors.filter(({ name }) => name.endsWith('_blocks')).map((each) => [each.name, each]))
  return tensors.flatMap((scales) => {
    const [, prefix, projection, kind] = mxfp4Name.exec(scales.name) ?? []
    if (kind !== 'scales') return []
    const codes = blocks.get(`${prefix}${projection}_blocks`)
    const match = matchName(family.tensors, `${prefix}${projection}`)
    if (!codes || !match) {
      const message = `scales without blocks: ${prefix}${projection}_blocks is not there`
      return failWith(familyCodes['tensor-missing'], { file: fileOf(scales.data), path: scales.name, message })
    }
    const [first, second] = targetNames(match)
    if (second === undefined) return [repacked(first!, codes, scales)]
    return [repacked(first!, codes, scales, 'even'), repacked(second, codes, scales, 'odd')]
  })
}

function note(from: Tensor, to: Tensor, changes: Change[], isAsked: boolean): void {
  changes.push({ subject: 'tensor', name: from.name, action: 'rename', loss: 'none', from: from.name, to: to.name })
  if (from.dtype === to.dtype) return
  const loss = castLoss(from.dtype, to.dtype)
  const reason =
    isAsked || loss === 'none'
      ? undefined
      : `llama.cpp's default; ${callerWord('--cast f32', "cast: 'f32'")} keeps every value`
  const change = { action: 'cast', loss, requested: true, from: from.dtype.id, to: to.dtype.id } as const
  changes.push({ subject: 'tensor', name: from.name, ...change, ...(reason !== undefined && { reason }) })
}
