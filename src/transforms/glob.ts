// Patterns for names. Patterns come from the user but names come from files, so matching must take linear time even for a name of a
// megabyte: nothing backtracks. The literal pieces between stars are matched one after another at their earliest position, which is
// sufficient: if a later position works, so does the earliest.

/** `*` matches any run of characters, including dots, `?` matches one; everything else matches itself. */
export function globMatcher(pattern: string): (name: string) => boolean {
  return pattern.includes('?') ? matcherOf(pattern, pointsOf, pointText) : matcherOf(pattern, (text) => text, plainText)
}

/** How the pieces of a pattern are compared with a text. */
interface Comparison<T extends { readonly length: number }> {
  isAt(text: T, piece: T, at: number): boolean
  /** The first position at or after `from`, or -1. */
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

/** A question mark matches a whole character, even one that takes two UTF-16 units. */
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
