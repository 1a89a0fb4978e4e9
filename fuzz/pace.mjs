// How closely an input is looked at. Opening comes first and is cheap; what comes out decides about the rest: outcomes that are new get
// every check, and of those that come again and again every few get some. Millions of inputs can be tried that way.

export const depths = { open: 0, verify: 1, all: 2 }
/** Inputs with the same outcome that get every check, before some of them do. */
const always = 2
/** One in how many gets every check, or is verified. Most inputs are refused for a reason that thousands were refused for before. */
const shares = { fresh: { all: 128, verify: 4 }, common: { all: 1024, verify: 32 } }
const commonFrom = 1000
const maxOutcomes = 1 << 16

export class Pace {
  /** The last outcome had not been seen before. */
  isNew = false
  #seen = new Map()
  #random

  constructor(random) {
    this.#random = random
  }

  depthOf(outcome, isOpened = false) {
    const count = (this.#seen.get(outcome) ?? 0) + 1
    this.isNew = count === 1 && this.#seen.size < maxOutcomes
    if (count > 1 || this.isNew) this.#seen.set(outcome, count)
    const { all, verify } = shares[isOpened || count < commonFrom ? 'fresh' : 'common']
    if (count <= always || this.#random.once(all)) return depths.all
    return this.#random.once(verify) ? depths.verify : depths.open
  }

  get outcomes() {
    return this.#seen.size
  }
}

/** Every check, for one input. */
export const unhurried = { isNew: false, depthOf: () => depths.all }
