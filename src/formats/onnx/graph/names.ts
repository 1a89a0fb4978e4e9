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

/** A graph that has a name, and whether all that it calls so are constants. */
interface Met {
  readonly scope: Scope
  isConstant: boolean
}

/** The names that were met, with the graphs that have them. Nearly every name is met once, so only the others have a list. */
export class MetNames {
  readonly #first = new Map<string, Met>()
  readonly #further = new Map<string, Map<Scope, Met>>()

  meet(name: string, scope: Scope, isConstant: boolean): Repetition | undefined {
    const first = this.#first.get(name)
    if (!first) {
      this.#first.set(name, { scope, isConstant })
      return undefined
    }
    const further = this.#further.get(name)
    const met = first.scope === scope ? first : further?.get(scope)
    if (!met) {
      const added = { scope, isConstant }
      if (further) further.set(scope, added)
      else this.#further.set(name, new Map([[scope, added]]))
      return 'other-graph'
    }
    const areConstants = met.isConstant && isConstant
    met.isConstant = areConstants
    return areConstants ? 'constants' : 'same-graph'
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
