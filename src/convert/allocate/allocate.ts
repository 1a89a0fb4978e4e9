// Spends a budget of bytes on tensors so that the sum of their errors is least. Every tensor has options, each with a size and an error. For
// some price of a byte, all tensors take the option that is cheapest when error and bytes are added; that is the choice with the least
// error for the bytes it takes (Lagrange). Lowering the price step by step gives better options to the tensors that gain most per byte.

export interface Option {
  readonly method: string
  readonly bytes: number
  /** Never negative. */
  readonly error: number
}

interface Step {
  readonly tensor: number
  /** The position of the option on the hull of its tensor. */
  readonly to: number
  readonly bytes: number
  readonly gainPerByte: number
}

/** One option for each tensor. Undefined if even the smallest do not fit. */
export function allocate(tensors: readonly (readonly Option[])[], budget: number): Option[] | undefined {
  const hulls = tensors.map(hullOf)
  let left = budget
  for (const [smallest] of hulls) left -= smallest?.bytes ?? 0
  if (left < 0) return undefined
  const chosen = hulls.map(() => 0)
  const steps = hulls.flatMap(stepsOf)
  // Equal gains keep the order of tensors, so that the same input gives the same choice everywhere.
  steps.sort((a, b) => b.gainPerByte - a.gainPerByte || a.tensor - b.tensor || a.to - b.to)
  for (const { tensor, to, bytes } of steps) {
    // What does not fit is skipped: a later, smaller step may still do.
    if (bytes > left || chosen[tensor] !== to - 1) continue
    chosen[tensor] = to
    left -= bytes
  }
  return hulls.map((hull, i) => hull[chosen[i]!]!)
}

/** The options that are best for some price of a byte: ascending in bytes, with falling gains. */
function hullOf(options: readonly Option[]): readonly Option[] {
  const sorted = options.toSorted((a, b) => a.bytes - b.bytes || a.error - b.error)
  const hull: Option[] = []
  for (const option of sorted) {
    const last = hull.at(-1)
    if (last && option.error >= last.error) continue
    while (hull.length > 1 && gain(hull.at(-2)!, hull.at(-1)!) <= gain(hull.at(-1)!, option)) hull.pop()
    hull.push(option)
  }
  return hull
}

const gain = (from: Option, to: Option): number => (from.error - to.error) / (to.bytes - from.bytes)

const stepsOf = (hull: readonly Option[], tensor: number): Step[] =>
  hull.slice(1).map((option, i) => {
    const before = hull[i]!
    return { tensor, to: i + 1, bytes: option.bytes - before.bytes, gainPerByte: gain(before, option) }
  })
