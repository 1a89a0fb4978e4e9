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
  /** Where its message begins; undefined where protobuf merges it from several. */
  readonly start?: number | undefined
}

type Repetition = 'same-graph' | 'constants' | 'other-graph'

/** A graph that has a name, and whether all that it calls so are constants. */
interface Met {
  readonly scope: Scope
  readonly isConstant: boolean
}

/** The names that were met, with the graphs that have them. Nearly every name is met once, so only the others have a list. */
export class MetNames {
  readonly #first = new Map<string, Met>()
  readonly #further = new Map<string, Map<Scope, Met>>()
  /** Names that come one after the other are mostly met in the same way, so they share it. */
  #last: Met | undefined

  meet(name: string, scope: Scope, isConstant: boolean): Repetition | undefined {
    const first = this.#first.get(name)
    if (!first) {
      this.#first.set(name, this.#met(scope, isConstant))
      return undefined
    }
    const isFirst = first.scope === scope
    const further = isFirst ? undefined : (this.#further.get(name) ?? new Map<Scope, Met>())
    const met = isFirst ? first : further?.get(scope)
    const areConstants = isConstant && (met?.isConstant ?? true)
    if (isFirst) this.#first.set(name, this.#met(scope, areConstants))
    else this.#further.set(name, further!.set(scope, this.#met(scope, areConstants)))
    if (!met) return 'other-graph'
    return areConstants ? 'constants' : 'same-graph'
  }

  #met(scope: Scope, isConstant: boolean): Met {
    if (this.#last?.scope !== scope || this.#last.isConstant !== isConstant) this.#last = { scope, isConstant }
    return this.#last
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
