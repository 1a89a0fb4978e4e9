// A name that no tensor has, and those that were most likely meant.
import { callerWord, failWith, usageCodes } from '../../errors/index.js'
import type { Model } from '../../model/index.js'

export function refuseName(model: Model, name: string): never {
  const close = nearestNames(namesOf(model), name)
  const hint =
    close.length > 0
      ? `; similar: ${close.map((each) => JSON.stringify(each)).join(', ')}`
      : `; see ${callerWord('`tare inspect`', 'inspect()')}`
  return failWith(usageCodes['no-such-tensor'], {
    file: model.files[0]?.name ?? '',
    path: name,
    message: `there is no tensor ${JSON.stringify(name)}${hint}`,
  })
}

function* namesOf({ tensors }: Model): Generator<string> {
  for (const { name } of tensors) yield name
}

/**
 * The names that were most likely meant, best first: those that contain the given one or, if there is none, those that begin and end like
 * it. One pass over all names, since a model can have a million.
 */
function nearestNames(names: Iterable<string>, given: string, count = 3): string[] {
  const best: { readonly name: string; readonly score: number }[] = []
  for (const name of names) {
    const score = likeness(name, given)
    if (score === 0 || (best.length === count && score <= best[count - 1]!.score)) continue
    const at = best.findIndex((other) => other.score < score)
    best.splice(at < 0 ? best.length : at, 0, { name, score })
    if (best.length > count) best.pop()
  }
  return best.map(({ name }) => name)
}

/** 0: not alike. Names that contain the given one come before all others. */
function likeness(name: string, given: string): number {
  if (given !== '' && name.includes(given)) return given.length * 2 + 1
  const shorter = Math.min(name.length, given.length)
  let start = 0
  while (start < shorter && name[start] === given[start]) start++
  let end = 0
  while (end < shorter - start && name[name.length - 1 - end] === given[given.length - 1 - end]) end++
  const shared = start + end
  return shared * 2 >= Math.max(name.length, given.length) ? shared : 0
}
