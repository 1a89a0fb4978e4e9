import { didYouMean, type Model, selector } from '../../kit-node.js'
import type { Console } from '../console/console.js'
import { escapeName, escapeText } from '../console/escape.js'

export type Tensors = Model['tensors']

/** The tensors that `--tensors` takes, all without it. A pattern that takes none is valid, but mostly mistyped. */
export function chooseTensors(model: Model, patterns: readonly string[] | undefined, console: Console): Tensors {
  const names = patterns ? model.tensors.map(({ name }) => name) : []
  for (const pattern of patterns ?? []) {
    if (names.some(selector([pattern]))) continue
    console.remark(`no tensor matches ${escapeName(pattern)}${escapeText(didYouMean(pattern, names))}`)
  }
  return matchingTensors(model, patterns)
}

export function matchingTensors({ tensors }: Model, patterns: readonly string[] | undefined): Tensors {
  if (!patterns) return tensors
  const isWanted = selector(patterns)
  return tensors.filter(({ name }) => isWanted(name))
}
