import { type Model, selector } from '../../kit-node.js'
import type { Console } from '../console/console.js'
import { escapeName } from '../console/escape.js'

export type Tensors = Model['tensors']

/** The tensors that `--tensors` takes, all without it. An empty answer is valid, but mostly comes of a mistyped pattern. */
export function chooseTensors(model: Model, patterns: readonly string[] | undefined, console: Console): Tensors {
  const chosen = matchingTensors(model, patterns)
  if (patterns && chosen.length === 0) console.remark(`no tensor matches ${patterns.map(escapeName).join(' ')}`)
  return chosen
}

export function matchingTensors({ tensors }: Model, patterns: readonly string[] | undefined): Tensors {
  if (!patterns) return tensors
  const isWanted = selector(patterns)
  return tensors.filter(({ name }) => isWanted(name))
}
