// Tensors of one kind: the same name but for the numbers of layers and experts, and the same shape. A method suits all of them or none.
import { type Model, planMethods } from 'tare/kit'

export interface KindOfTensor {
  /** `blk.*.attn_q.weight` */
  readonly glob: string
  readonly count: number
  /** Values of all of them. */
  readonly values: number
  /** Stored bytes of all of them, as they are. */
  readonly bytes: number
  /** The name of the largest of them. */
  readonly example: string
}

const layerIndex = /(?<=^|[._/])\d{1,9}(?=$|[._/])/g

/** Characters that mean something else in a pattern match any one character. */
export const globOf = (name: string): string => name.replace(/[*?[\]{}=\\]/g, '?').replace(layerIndex, '*')

/** Of the tensors that would be quantized by default, the largest kind first. */
export function kindsOf(model: Pick<Model, 'tensors'>, method: string): KindOfTensor[] {
  const kinds = new Map<
    string,
    { glob: string; count: number; values: number; bytes: number; example: string; most: number }
  >()
  for (const { name, method: chosen, elements, sizeBefore } of planMethods(model, { method, requantize: true })) {
    // What has this very type already is of a kind that can be quantized, too.
    const glob = globOf(name)
    if (chosen === undefined && !kinds.has(glob)) continue
    const kind = kinds.get(glob) ?? { glob, count: 0, values: 0, bytes: 0, example: name, most: 0 }
    kind.count++
    kind.values += elements
    kind.bytes += sizeBefore
    if (elements > kind.most) Object.assign(kind, { most: elements, example: name })
    kinds.set(glob, kind)
  }
  return [...kinds.values()].sort((a, b) => b.bytes - a.bytes).map(({ most: _, ...kind }) => kind)
}
