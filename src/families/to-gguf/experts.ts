// Checkpoints keep each expert's matrices as tensors of their own; GGUF has one tensor for all experts of a layer. It stands where the last of
// them was.
import { failWith } from '../../errors/index.js'
import type { Tensor } from '../../model/index.js'
import { familyCodes } from '../codes.js'
import { concatenated } from '../concatenated.js'
import type { ModelConfig } from '../config.js'
import { numberIn } from '../facts.js'
import type { TensorRule } from '../family.js'
import { refuseShape } from '../views.js'
import type { Match } from './names.js'

/** No model has more. */
const maxExperts = 65_536

const expertCounts = [
  'moe_num_primary_experts',
  'num_local_experts',
  'num_experts',
  'n_routed_experts',
  'moe_num_experts',
] as const

/** Patterns of as many experts each, in the order in which they are written. */
interface Kind {
  readonly experts: number
  readonly patterns: readonly string[]
}

interface Started {
  readonly kind: Kind
  readonly layer: number
  readonly groups: Map<string, Tensor[]>
}

export class ExpertStacks {
  readonly #file: string
  readonly #kinds = new Map<string, Kind>()
  readonly #started = new Map<string, Started>()

  constructor({ family, config }: ModelConfig, file: string) {
    this.#file = file
    const experts = numberIn(config, ...expertCounts) ?? 0
    const kinds = new Map<string, string[]>()
    for (const [pattern, rule] of Object.entries(family.tensors)) {
      if (typeof rule === 'string' || !rule.stack) continue
      const kind = rule.count === undefined ? String(rule.experts ?? 1) : pattern
      kinds.set(kind, [...(kinds.get(kind) ?? []), pattern])
    }
    for (const patterns of kinds.values()) {
      const { count, experts: share = 1 } = family.tensors[patterns[0]!] as TensorRule
      for (const pattern of patterns)
        this.#kinds.set(pattern, { experts: count ?? Math.floor(experts * share), patterns })
    }
  }

  /** The stacked tensors of a layer, when this was the last of its parts. */
  add(tensor: Tensor, { pattern, layer = 0, expert = 0 }: Match): readonly Tensor[] {
    const kind = this.#kinds.get(pattern)!
    const { experts, patterns } = kind
    if (expert >= experts || experts > maxExperts) {
      const message = `it is expert ${expert}, and the configuration says that there are ${experts}`
      failWith(familyCodes['tensor-unknown'], { file: this.#file, path: tensor.name, message })
    }
    const key = `${layer} ${patterns[0]}`
    const started = this.#started.get(key) ?? { kind, layer, groups: new Map<string, Tensor[]>() }
    this.#started.set(key, started)
    const { groups } = started
    const group = groups.get(pattern) ?? []
    groups.set(pattern, group)
    group[expert] = tensor
    if (!patterns.every((each) => isWhole(groups.get(each), experts))) return []
    this.#started.delete(key)
    return patterns.map((each) => stacked(groups.get(each)!))
  }

  assertComplete(): void {
    for (const { kind, layer, groups } of this.#started.values()) {
      const pattern = kind.patterns.find((each) => !isWhole(groups.get(each), kind.experts))!
      const there = groups.get(pattern)?.filter(Boolean).length ?? 0
      const message = `layer ${layer} has ${there} of ${kind.experts} experts`
      failWith(familyCodes['tensor-missing'], {
        file: this.#file,
        path: pattern.replace('{n}', String(layer)),
        message,
      })
    }
  }
}

function isWhole(group: readonly Tensor[] | undefined, experts: number): boolean {
  if (group?.length !== experts) return false
  for (let expert = 0; expert < experts; expert++) if (!group[expert]) return false
  return true
}

function stacked(parts: readonly Tensor[]): Tensor {
  const [first] = parts as readonly [Tensor]
  for (const part of parts) {
    const isSame =
      part.shape.length === first.shape.length && part.shape.every((length, i) => length === first.shape[i])
    if (!isSame || part.dtype !== first.dtype) refuseShape(part, `another expert has [${first.shape.join(', ')}]`)
  }
  const data = concatenated(
    parts.map((part) => part.data!),
    first.name,
  )
  return { ...first, shape: [parts.length, ...first.shape], data }
}
