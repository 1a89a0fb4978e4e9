// Patterns for names. They come from the user, but names come from files, and a name of a megabyte must not take longer than its length
// deserves: nothing here backtracks. The pieces between the stars are looked for one after the other, each as early as it can be; where a
// later place would do, the earlier one does as well.

/** `*` stands for any run of characters, dots included, `?` for one; everything else is itself. */
export function globMatcher(pattern: string): (name: string) => boolean {
  return pattern.includes('?') ? matcherOf(pattern, pointsOf, pointText) : matcherOf(pattern, (text) => text, plainText)
}

/** How the pieces of a pattern are compared with a text; places are counted in its units. */
interface Comparison<T extends { readonly length: number }> {
  isAt(text: T, piece: T, at: number): boolean
  /** The first place from `from` on, or -1. */
  find(text: T, piece: T, from: number): number
}

function matcherOf<T extends { readonly length: number }>(
  pattern: string,
  unitsOf: (text: string) => T,
  { isAt, find }: Comparison<T>,
): (name: string) => boolean {
  const [first, ...others] = pattern.split('*').map(unitsOf)
  const last = others.pop()
  const between = others.filter(({ length }) => length > 0)
  return (name) => {
    const text = unitsOf(name)
    if (last === undefined) return text.length === first!.length && isAt(text, first!, 0)
    const end = text.length - last.length
    if (end < first!.length || !isAt(text, first!, 0) || !isAt(text, last, end)) return false
    let at = first!.length
    for (const piece of between) {
      const found = find(text, piece, at)
      if (found < 0) return false
      at = found + piece.length
    }
    return at <= end
  }
}

const plainText: Comparison<string> = {
  isAt: (text, piece, at) => text.startsWith(piece, at),
  find: (text, piece, from) => text.indexOf(piece, from),
}

/** A question mark stands for a whole character, also where that takes two units of a string. */
const pointsOf = (text: string): readonly string[] => Array.from(text)

const isPieceAt = (text: readonly string[], piece: readonly string[], at: number): boolean =>
  at + piece.length <= text.length && piece.every((unit, i) => unit === '?' || unit === text[at + i])

const pointText: Comparison<readonly string[]> = {
  isAt: isPieceAt,
  find(text, piece, from) {
    for (let at = from; at + piece.length <= text.length; at++) if (isPieceAt(text, piece, at)) return at
    return -1
  },
}
