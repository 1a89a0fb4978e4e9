/** The positions up to `count` as `compare` orders them, equal ones as they come. A million that are in order already are not sorted. */
export function* sortedPositions(
  count: number,
  compare: (a: number, b: number) => number,
): Generator<number, void, void> {
  let inOrder = 1
  while (inOrder < count && compare(inOrder - 1, inOrder) <= 0) inOrder++
  if (inOrder < count) yield* Uint32Array.from({ length: count }, (_, i) => i).sort((a, b) => compare(a, b) || a - b)
  else for (let i = 0; i < count; i++) yield i
}
