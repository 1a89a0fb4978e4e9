/** The shortest decimal number that is this one in single precision: 0.1 for 0.10000000149011612. */
export function shortestF32(value: number): number {
  for (let digits = 1; digits <= 9; digits++) {
    const rounded = Number(value.toPrecision(digits))
    if (Math.fround(rounded) === Math.fround(value)) return rounded
  }
  return value
}
