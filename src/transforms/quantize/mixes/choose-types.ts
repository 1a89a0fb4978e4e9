// Which type llama-quantize gives to each tensor of a model. It goes through the tensors in the order of layers and counts those of each role,
// because some rules are about the first ones.
import { dtypeById } from '../../../dtypes/index.js'
import type { Tensor } from '../../../model/index.js'
import type { FileType } from './file-types.js'
import type { ModelFacts } from './model-facts.js'
import { type Role, roleOf, whyKeptByName } from './roles.js'
import { outputType, type Situation, typeByRole } from './rules.js'

export interface MixOptions {
  readonly fileType: FileType
  readonly facts: ModelFacts
  readonly hasImatrix: boolean
  /** One type for all that is quantized. */
  readonly isPure?: boolean | undefined
  /** Whether something else chooses for the tensor at this position. Those are not counted, as in llama-quantize. */
  readonly isSettled?: ((position: number) => boolean) | undefined
}

export interface MixChoice {
  /** `q4_k`, or a float such as `f16`. Absent if the tensor is kept. */
  readonly type?: string
  /** Why it is kept, or why it is another type than the rules say. */
  readonly reason?: string
  /** llama-quantize does not work without importance weights for it. */
  readonly needsWeights?: boolean
}

type Named = Pick<Tensor, 'name' | 'shape'>

/** One choice for each tensor, in the order given. */
export function chooseTypes(tensors: readonly Named[], options: MixOptions): MixChoice[] {
  const { facts, fileType, hasImatrix, isPure } = options
  const isTied = !tensors.some(({ name }) => roleOf(name) === 'output')
  const attentionCount = tensors.filter(({ name }) => roleOf(name) === 'attentionV').length
  const counts = new Map<Role, number>()
  const choices = new Array<MixChoice>(tensors.length)
  for (const position of inOrderOfLayers(tensors)) {
    const tensor = tensors[position]!
    const kept = whyKeptByName(tensor.name, tensor.shape)
    if (kept !== undefined || options.isSettled?.(position)) {
      choices[position] = kept === undefined ? {} : { reason: kept }
      continue
    }
    const role = roleOf(tensor.name)
    const index = counts.get(role) ?? 0
    const layer = facts.experts > 1 ? (layerOf(tensor.name) ?? index) : index
    const situation: Situation = { ...facts, index, layer, attentionCount, hasImatrix }
    if (!isPure) counts.set(role, index + 1)
    const wanted = isPure ? fileType.type : typeIn(tensor, role, isTied, fileType, situation)
    choices[position] = fitted(tensor, role, wanted, fileType)
  }
  return choices
}

function typeIn(tensor: Named, role: Role, isTied: boolean, fileType: FileType, situation: Situation): string {
  if (isFloat(fileType.type)) return fileType.type
  if (role === 'output' || (isTied && role === 'embedding'))
    return outputType(fileType, isWhole(tensor.shape, fileType.type), situation)
  if (fileType.name !== 'mxfp4_moe') return typeByRole(role, fileType, situation)
  return isStack(tensor, role, situation) ? 'mxfp4' : 'q8_0'
}

/** Whether it holds the matrices of experts. Other stacks of three dimensions are told apart only where an architecture has them. */
function isStack({ shape }: Named, role: Role, { architecture }: ModelFacts): boolean {
  if ((shape.at(-3) ?? 1) <= 1) return false
  return architecture !== 'bailingmoe3' || role === 'ffnUp' || role === 'ffnGate' || role === 'ffnDown'
}

/** Types of 32 values that stand in where rows are not whole blocks of 256, or of 64. */
const standIns: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['iq1_s', 'iq1_m', 'iq2_xxs', 'iq2_xs', 'iq2_s', 'iq3_xxs', 'iq3_s', 'iq4_xs'].map((type) => [type, 'iq4_nl']),
  ),
  ...Object.fromEntries(['q2_0', 'q2_k', 'q3_k', 'tq1_0', 'tq2_0'].map((type) => [type, 'q4_0'])),
  q4_k: 'q5_0',
  q5_k: 'q5_1',
  q6_k: 'q8_0',
}

/** Types that llama-quantize gives to no layer without importance weights. */
export const needsMatrix = (type: string): boolean => weighted.has(type)

const weighted: ReadonlySet<string> = new Set(['iq3_xxs', 'iq2_xxs', 'iq2_xs', 'iq2_s', 'iq1_m', 'iq1_s'])

/** The type, or what takes its place for rows of this length. */
function fitted({ shape }: Named, role: Role, wanted: string, fileType: FileType): MixChoice {
  const why = `rows of ${shape.at(-1)!} are not a multiple of ${blockOf(wanted)}`
  if (isWhole(shape, wanted)) return withNeed(wanted, role, fileType)
  const standIn = standIns[wanted]
  // llama-quantize refuses the whole model then.
  if (standIn === undefined) return { reason: why }
  const type = isWhole(shape, standIn) ? standIn : 'f16'
  return { ...withNeed(type, role, fileType), reason: `${type} instead of ${wanted}: ${why}` }
}

function withNeed(type: string, role: Role, fileType: FileType): MixChoice {
  const isNeedy = weighted.has(type) || (type === 'q2_k' && fileType.name === 'q2_k_s')
  return isNeedy && role !== 'output' && role !== 'embedding' ? { type, needsWeights: true } : { type }
}

const isFloat = (type: string): boolean => dtypeById(type) !== undefined

const blockOf = (type: string): number => (isFloat(type) ? 1 : dtypeById(`ggml.${type}`)!.group.elements)

const isWhole = (shape: readonly number[], type: string): boolean => (shape.at(-1) ?? 1) % blockOf(type) === 0

/** The layer that a name states. */
function layerOf(name: string): number | undefined {
  const found = /^blk\.(\d+)\./.exec(name)
  return found ? Number(found[1]) : undefined
}

/** Positions by layer and then by name; what is in no layer comes first. */
export function inOrderOfLayers(tensors: readonly Pick<Tensor, 'name'>[]): number[] {
  const keyed = tensors.map(({ name }, position) => ({ name, position, layer: layerOf(name) ?? -1 }))
  keyed.sort((a, b) => a.layer - b.layer || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  return keyed.map(({ position }) => position)
}
