// How much of a model's files is index. Sizes alone tell it: what is neither a tensor's data nor a part with bytes of its own.

import { type Model, type Part, totalSize } from '../model/model.js'
import { coveredBytes } from '../threads/index.js'

interface Stretch {
  readonly start: number
  readonly end: number
}

/** `apart` are the parts that do not count. Bytes that several tensors share count once. */
export function indexSize(model: Model, apart: readonly Part[]): number {
  return Math.max(0, totalSize(model) - (coveredInOrder(model, apart) ?? coveredInAll(model, apart)))
}

/** Tensors mostly lie one behind the other, and then nothing has to be kept of a million; undefined when they do not. */
function coveredInOrder(model: Model, apart: readonly Part[]): number | undefined {
  const reached = new Map<string, number>()
  let covered = 0
  for (const [file, { start, end }] of stretchesOf(model, apart)) {
    if (start < (reached.get(file) ?? 0)) return undefined
    reached.set(file, end)
    covered += end - start
  }
  return covered
}

function coveredInAll(model: Model, apart: readonly Part[]): number {
  const byFile = new Map<string, Stretch[]>()
  for (const [file, stretch] of stretchesOf(model, apart)) {
    const known = byFile.get(file)
    if (known) known.push(stretch)
    else byFile.set(file, [stretch])
  }
  let covered = 0
  for (const stretches of byFile.values()) covered += coveredBytes(stretches)
  return covered
}

function* stretchesOf(model: Model, apart: readonly Part[]): Generator<[file: string, Stretch], void, void> {
  for (const list of [model.tensors, apart]) {
    for (const { data } of list) {
      if (!data?.origin) continue
      const { source, offset, length } = data.origin
      yield [source.name, { start: offset, end: offset + length }]
    }
  }
}
