// Everything that is neither a tensor's data nor a file that merely comes along was read and parsed when the model was opened.
import { fileKind } from '../model/companions.js'
import { type Model, totalSize } from '../model/index.js'
import { coveredBytes } from '../pool/index.js'

interface Stretch {
  readonly start: number
  readonly end: number
}

/** Bytes that several tensors share count once. */
export function indexSize(model: Model): number {
  const byFile = new Map<string, Stretch[]>()
  const files = model.parts.filter(({ kind }) => kind === fileKind)
  for (const list of [model.tensors, files]) {
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
