// Graphs as scopes of names. A name is unique in its graph; graphs beside each other may use the same names, and do. Exporters also leave
// constants behind under a name that they use again, and runtimes take the last one.
import type { Text } from '../reader.js'

/** One graph. */
export interface Scope {
  /** Whether its tensors are part of the model; those of local functions and of training are only checked. */
  readonly isListed: boolean
  /** Where the graph is, when it is not the main one. */
  readonly path: string | undefined
}

export const newScope = (isListed: boolean, path?: string): Scope => ({ isListed, path })

/** Where a tensor has its name. */
export interface TensorPlace {
  readonly scope: Scope
  readonly name: Text
}

type Repetition = 'same-graph' | 'constants' | 'other-graph'

/** The names that were met, with the graphs that have them; the value is whether all of a graph's are constants. */
export class MetNames {
  readonly #names = new Map<string, Map<Scope, boolean>>()

  meet(name: string, scope: Scope, isConstant: boolean): Repetition | undefined {
    const scopes = this.#names.get(name)
    if (!scopes) {
      this.#names.set(name, new Map([[scope, isConstant]]))
      return undefined
    }
    const before = scopes.get(scope)
    scopes.set(scope, isConstant && before !== false)
    if (before === undefined) return 'other-graph'
    return before && isConstant ? 'constants' : 'same-graph'
  }
}

/**
 * New names, by position, for tensors whose name another one has. The name stays with the graph that had it first and, in a graph, with the
 * last of its tensors; the others get a number, in the order of the file.
 */
export function distinctNames(places: readonly TensorPlace[]): Map<number, string> {
  const byName = new Map<string, number[]>()
  for (const [i, { name }] of places.entries()) {
    const same = byName.get(name.value)
    if (same) same.push(i)
    else byName.set(name.value, [i])
  }
  const made = new Map<number, string>()
  const taken = new Set(byName.keys())
  for (const [name, same] of byName) {
    const { scope } = places[same[0]!]!
    const keeper = same.findLast((i) => places[i]!.scope === scope)
    let number = 2
    for (const i of same) {
      if (i === keeper) continue
      while (taken.has(`${name}@${number}`)) number++
      made.set(i, `${name}@${number}`)
      taken.add(`${name}@${number}`)
    }
  }
  return made
}
