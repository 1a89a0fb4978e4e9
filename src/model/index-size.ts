// How much of a model's files is index. Sizes alone tell it: what is neither a tensor's data nor a part with bytes of its own.
import { coveredBytes } from '../pool/index.js'
import { type Model, type Part, totalSize } from './model.js'

interface Stretch {
  readonly start: number
  readonly end: number
}

/** `apart` are the parts that do not count. Bytes that several tensors share count once. */
export function indexSize(model: Model, apart: readonly Part[]): number {
  const byFile = new Map<string, Stretch[]>()
  for (const list of [model.tensors, apart]) {
    for (const { data } of list) {
      if (!data?.origin) continue
      const { source, offset, length } = data.origin
      const stretch = { start: offset, end: offset + length }
      const known = byFile.get(source.name)
      if (known) known.push(stretch)
      else byFile.set(source.name, [stretch])
    }
  }
  let data = 0
  for (const stretches of byFile.values()) data += coveredBytes(stretches)
  return Math.max(0, totalSize(model) - data)
}
