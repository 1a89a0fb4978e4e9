// The inverse of the error function, to double precision: a first guess, and steps of Newton on an error function that is computed as a series
// where that converges and as a continued fraction beyond.

const twoOverRoot = 2 / Math.sqrt(Math.PI)

/** For x above zero, what is missing to one. */
function complement(x: number): number {
  if (x < 2.5) {
    let [term, sum] = [x, x]
    for (let n = 1; n < 120; n++) {
      term *= (-x * x) / n
      sum += term / (2 * n + 1)
    }
    return 1 - twoOverRoot * sum
  }
  let fraction = 0
  for (let n = 60; n > 0; n--) fraction = n / 2 / (x + fraction)
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fraction)
}

export function inverseErf(y: number): number {
  if (!(Math.abs(y) < 1)) return Math.abs(y) === 1 ? Math.sign(y) * Infinity : Number.NaN
  const [size, sign] = [Math.abs(y), Math.sign(y)]
  const logarithm = Math.log(1 - size * size)
  const a = 0.147
  const half = 2 / (Math.PI * a) + logarithm / 2
  let x = Math.sqrt(Math.sqrt(half * half - logarithm / a) - half)
  for (let step = 0; step < 4 && x > 0; step++) x += (complement(x) - (1 - size)) / (twoOverRoot * Math.exp(-x * x))
  return sign * x
}
