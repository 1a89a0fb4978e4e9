// Checkpoints keep each expert's matrices as tensors of their own; GGUF has one tensor for all experts of a layer. It stands where the last of
// them was.
import { failWith } from '../../errors/index.js'
import type { Tensor } from '../../model/index.js'
import { familyCodes } from '../codes.js'
import { concatenated } from '../concatenated.js'
import type { ModelConfig } from '../config.js'
import { numberIn } from '../facts.js'
import { refuseShape } from '../views.js'
import type { Match } from './names.js'

/** No model has more. */
const maxExperts = 65_536

export class ExpertStacks {
  readonly #file: string
  readonly #experts: number
  /** The patterns that are stacked, in the order in which they are written. */
  readonly #patterns: readonly string[]
  readonly #layers = new Map<number, Map<string, Tensor[]>>()

  constructor({ family, config }: ModelConfig, file: string) {
    this.#file = file
    this.#experts = numberIn(config, 'num_local_experts', 'num_experts', 'n_routed_experts', 'moe_num_experts') ?? 0
    this.#patterns = Object.entries(family.tensors).flatMap(([pattern, rule]) =>
      typeof rule !== 'string' && rule.stack ? [pattern] : [],
    )
  }

  /** The stacked tensors of a layer, when this was the last of its parts. */
  add(tensor: Tensor, { pattern, layer = 0, expert = 0 }: Match): readonly Tensor[] {
    if (expert >= this.#experts || this.#experts > maxExperts) {
      const message = `it is expert ${expert}, and the configuration says that there are ${this.#experts}`
      failWith(familyCodes['tensor-unknown'], { file: this.#file, path: tensor.name, message })
    }
    const groups = this.#layers.get(layer) ?? new Map<string, Tensor[]>()
    this.#layers.set(layer, groups)
    const group = groups.get(pattern) ?? []
    groups.set(pattern, group)
    group[expert] = tensor
    if (!this.#patterns.every((each) => this.#isWhole(groups.get(each)))) return []
    this.#layers.delete(layer)
    return this.#patterns.map((each) => stacked(groups.get(each)!))
  }

  #isWhole(group: readonly Tensor[] | undefined): boolean {
    if (group?.length !== this.#experts) return false
    for (let expert = 0; expert < this.#experts; expert++) if (!group[expert]) return false
    return true
  }

  assertComplete(): void {
    for (const [layer, groups] of this.#layers) {
      const pattern = this.#patterns.find((each) => !this.#isWhole(groups.get(each)))!
      const there = groups.get(pattern)?.filter(Boolean).length ?? 0
      const message = `layer ${layer} has ${there} of ${this.#experts} experts`
      failWith(familyCodes['tensor-missing'], {
        file: this.#file,
        path: pattern.replace('{n}', String(layer)),
        message,
      })
    }
  }
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
