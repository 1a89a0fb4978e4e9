// What the simulation does not measure. It is drawn from a fixed seed, so that two runs differ by what was measured only.

export const assumed = {
  /** Bytes per second for each worker, in sum over reading and writing. The store is never the bottleneck. */
  bandwidth: 250e6,
  /** Relative standard deviation of the speeds of workers, and of the time that a task takes. */
  deviation: 0.1,
  /** One worker in this many has half the speed. */
  slowEvery: 100,
}

/** The speeds of workers; 1 is this machine. */
export function speedsOf(workers) {
  const varied = variation()
  const { slowEvery } = assumed
  return Array.from({ length: workers }, (_, i) => varied() * (i % slowEvery === slowEvery - 1 ? 0.5 : 1))
}

/** Draws factors around 1. */
export function variation() {
  let state = 1
  const uniform = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  // A sum of twelve is close to a normal distribution, and never far out.
  return () => {
    let sum = 0
    for (let i = 0; i < 12; i++) sum += uniform()
    return 1 + assumed.deviation * (sum - 6)
  }
}
