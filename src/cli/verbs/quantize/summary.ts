// What a quantization does to a model, in numbers.
import type { MethodChoice, Quantization } from '../../../kit-node.js'

export interface Weights {
  readonly bytes: number
  readonly bitsPerWeight: number
}

export interface Group {
  /** The method, or why tensors stay as they are. */
  readonly name: string
  readonly count: number
  readonly elements: number
}

export interface Summary {
  /** How many tensors are quantized. */
  readonly quantized: number
  readonly methods: readonly Group[]
  /** How many tensors stay as they are, by the reason for it. */
  readonly kept: readonly Group[]
  readonly before: Weights
  readonly after: Weights
}

export function summarize({ choices, model }: Quantization): Summary {
  const [chosen, kept] = [choices.filter(({ method }) => method), choices.filter(({ method }) => !method)]
  const elements = choices.reduce((sum, each) => sum + each.elements, 0)
  const weights = (bytes: number): Weights => ({ bytes, bitsPerWeight: elements === 0 ? 0 : (8 * bytes) / elements })
  return {
    quantized: chosen.length,
    methods: grouped(chosen, ({ method }) => method!),
    kept: grouped(kept, ({ reason }) => reason ?? 'requested'),
    before: weights(choices.reduce((sum, each) => sum + each.sizeBefore, 0)),
    after: weights(model.tensors.reduce((sum, { data }) => sum + (data?.byteLength ?? 0), 0)),
  }
}

/** The groups with most tensors come first. */
function grouped(choices: readonly MethodChoice[], nameOf: (choice: MethodChoice) => string): Group[] {
  const groups = new Map<string, { count: number; elements: number }>()
  for (const choice of choices) {
    const { count, elements } = groups.get(nameOf(choice)) ?? { count: 0, elements: 0 }
    groups.set(nameOf(choice), { count: count + 1, elements: elements + choice.elements })
  }
  return [...groups].map(([name, group]) => ({ name, ...group })).sort((a, b) => b.count - a.count)
}
