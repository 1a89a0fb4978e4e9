// How closely an input is looked at. Opening comes first and is cheap; what comes out decides about the rest: outcomes that are new get
// every check, and of those that come again and again every few get some. Millions of inputs can be tried that way.

export const depths = { open: 0, verify: 1, all: 2 }
/** Inputs with the same outcome that get every check, before some of them do. */
const always = 2
/** One in how many gets every check, or is verified. Most inputs come out as thousands did before. */
const shares = [
  { from: 0, all: 128, verify: 4 },
  { from: 1000, all: 1024, verify: 32 },
  { from: 100_000, all: 8192, verify: 128 },
]
const maxOutcomes = 1 << 16

export class Pace {
  /** The last outcome had not been seen before. */
  isNew = false
  #seen = new Map()
  #random

  constructor(random) {
    this.#random = random
  }

  /** `features` say what came out. One that has not been seen before makes the input new; the rarest of them decides. */
  depthOf(...features) {
    let rarest = Number.POSITIVE_INFINITY
    this.isNew = false
    for (const feature of features) {
      const count = (this.#seen.get(feature) ?? 0) + 1
      const hasRoom = count > 1 || this.#seen.size < maxOutcomes
      if (hasRoom) this.#seen.set(feature, count)
      if (hasRoom && count === 1) this.isNew = true
      if (count < rarest) rarest = count
    }
    const { all, verify } = shares.findLast(({ from }) => rarest >= from)
    if (rarest <= always || this.#random.once(all)) return depths.all
    return this.#random.once(verify) ? depths.verify : depths.open
  }

  get outcomes() {
    return this.#seen.size
  }
}

/** Every check, for one input. */
export const unhurried = { isNew: false, depthOf: () => depths.all }
