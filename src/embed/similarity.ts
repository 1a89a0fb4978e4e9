/** The cosine of the angle between two vectors: 1 for the same direction. A vector of zeros is like nothing: 0. */
export function cosineSimilarity(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) throw new RangeError(`vectors of ${a.length} and ${b.length} values cannot be compared`)
  let product = 0
  let squaresOfA = 0
  let squaresOfB = 0
  for (let i = 0; i < a.length; i++) {
    product += a[i]! * b[i]!
    squaresOfA += a[i]! * a[i]!
    squaresOfB += b[i]! * b[i]!
  }
  const lengths = Math.sqrt(squaresOfA) * Math.sqrt(squaresOfB)
  return lengths === 0 ? 0 : Math.max(-1, Math.min(1, product / lengths))
}
