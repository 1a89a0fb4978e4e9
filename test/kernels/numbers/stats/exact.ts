// Sums without any rounding: every finite double is a whole multiple of 2^-1074.
const view = new DataView(new ArrayBuffer(8))

function unitsOf(x: number): bigint {
  view.setFloat64(0, x)
  const bits = view.getBigUint64(0)
  const exponent = (bits >> 52n) & 0x7ffn
  const fraction = bits & 0xfffffffffffffn
  const size = exponent === 0n ? fraction : (fraction + 0x10000000000000n) << (exponent - 1n)
  return bits >> 63n === 1n ? -size : size
}

/** a / b · 2^power, to nearly full precision. */
function quotient(a: bigint, b: bigint, power: number): number {
  const size = a < 0n ? -a : a
  const shift = Math.max(0, 70 - 4 * size.toString(16).length + 4 * b.toString(16).length)
  const digits = (size << BigInt(shift)) / b
  const excess = Math.max(0, 4 * digits.toString(16).length - 68)
  const value = scaled(Number(digits >> BigInt(excess)), excess - shift + power)
  return a < 0n ? -value : value
}

/** x · 2^power in steps that neither overflow nor vanish on the way. */
function scaled(x: number, power: number): number {
  if (power > 1000) return scaled(x * 2 ** 1000, power - 1000)
  return power < -1000 ? scaled(x * 2 ** -1000, power + 1000) : x * 2 ** power
}

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n)

export function exactMean(values: readonly number[]): number {
  return quotient(sum(values.map(unitsOf)), BigInt(values.length), -1074)
}

/** The root of the mean square of the deviations: √(n · Σx² − (Σx)²) / n. */
export function exactDeviation(values: readonly number[]): number {
  const units = values.map(unitsOf)
  const count = BigInt(values.length)
  const total = sum(units)
  const squares = count * sum(units.map((unit) => unit * unit)) - total * total
  return quotient(squareRoot(squares << 256n), count, -1074 - 128)
}

function squareRoot(n: bigint): bigint {
  if (n === 0n) return 0n
  let root = 1n << BigInt(Math.ceil(n.toString(16).length * 2))
  for (;;) {
    const next = (root + n / root) >> 1n
    if (next >= root) return root
    root = next
  }
}
