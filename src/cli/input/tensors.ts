import { type Model, selector, type TensorList } from '../../node.js'
import type { Console } from '../console/console.js'
import { escapeName } from '../console/escape.js'

/** The tensors that `--tensors` takes, all without it. An empty answer is an answer, but mostly to a mistyped pattern. */
export function chooseTensors(
  { tensors }: Model,
  patterns: readonly string[] | undefined,
  console: Console,
): TensorList {
  if (!patterns) return tensors
  const isWanted = selector(patterns)
  const chosen = tensors.filter(({ name }) => isWanted(name))
  if (chosen.length === 0) console.remark(`no tensor matches ${patterns.map(escapeName).join(' ')}`)
  return chosen
}
