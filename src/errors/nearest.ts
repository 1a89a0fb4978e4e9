// Suggestions for a mistyped word. Known words may come from a file, so neither their number nor their length may make this slow.

/** Longer words are compared with nothing. */
const maxLength = 200
/** How many known words are looked at. */
const maxKnown = 20_000

interface NearestOptions {
  /** How many suggestions there are at most. */
  readonly max?: number
}

/** The known words that are most like a mistyped one, the best first. Words with nothing in common give no suggestion. */
export function nearest(word: string, known: Iterable<string>, { max = 3 }: NearestOptions = {}): string[] {
  const wanted = literalOf(word).toLowerCase()
  if (wanted === '' || wanted.length > maxLength) return []
  const limit = Math.max(1, Math.floor(wanted.length / 3))
  const found: { readonly name: string; readonly distance: number }[] = []
  let seen = 0
  for (const name of known) {
    if (++seen > maxKnown) break
    if (name.length > maxLength) continue
    const distance = likeness(wanted, name.toLowerCase(), limit)
    if (distance <= limit + 1) found.push({ name, distance })
  }
  // What is much worse than the best only distracts from it.
  const best = found.reduce((min, { distance }) => Math.min(min, distance), Number.POSITIVE_INFINITY)
  return found
    .filter(({ distance }) => distance <= best + 1)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, max)
    .map(({ name }) => name)
}

/** `; did you mean a or b?`, or nothing where no known word comes near. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const names = nearest(word, known)
  if (names.length === 0) return ''
  const last = names.pop()!
  return `; did you mean ${names.length > 0 ? `${names.join(', ')} or ` : ''}${last}?`
}

/** The longest piece of a pattern that stands for itself; a word without stars is one piece. */
const literalOf = (pattern: string): string =>
  pattern
    .split(/[*?]+/)
    .map((piece) => piece.replace(/^\.+|\.+$/g, ''))
    .reduce((longest, piece) => (piece.length > longest.length ? piece : longest), '')

/** The number of typing errors between two words. A name that has the word in it, or something like it between its dots, counts too. */
function likeness(word: string, name: string, limit: number): number {
  const within = (piece: string): number =>
    Math.abs(word.length - piece.length) > limit ? Number.POSITIVE_INFINITY : editDistance(word, piece)
  const whole = within(name)
  if (whole <= 1) return whole
  if (name.includes(word)) return 1
  if (word.length < 3) return whole
  return name.split('.').reduce((min, piece) => Math.min(min, within(piece) + 1), whole)
}

/** Characters to insert, remove, replace, or swap with their neighbour. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      let best = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1))
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwapped) best = Math.min(best, before[j - 2]! + 1)
      row.push(best)
    }
    before = last
    last = row
  }
  return last[b.length]!
}
