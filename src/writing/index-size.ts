// How much of a model's files is index: everything that is neither tensor data nor a part with bytes of its own.
import { coveredBytes, type Range } from '../bytes/index.js'
import { type Model, type Part, totalSize } from '../model/model.js'

/** `apart` lists the parts that do not count as index. Bytes that several tensors share count once. */
export function indexSize(model: Model, apart: readonly Part[]): number {
  const byFile = new Map<string, Range[]>()
  for (const { data } of [...model.tensors, ...apart]) {
    if (!data?.origin) continue
    const { source, offset, length } = data.origin
    const range = { start: offset, end: offset + length }
    const known = byFile.get(source.name)
    if (known) known.push(range)
    else byFile.set(source.name, [range])
  }
  let covered = 0
  for (const ranges of byFile.values()) covered += coveredBytes(ranges)
  return Math.max(0, totalSize(model) - covered)
}
