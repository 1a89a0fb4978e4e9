// How many columns of a terminal a text takes. A character that people see may be several code points (an accent, a flag), and Chinese,
// Japanese, Korean and emoji take two columns each.
import { eastAsianWidth } from 'get-east-asian-width'

const beyondAscii = /[^\x20-\x7e]/

/** Such a text is not measured exactly: no terminal is that wide. */
const maxMeasured = 4096

/** `Intl` takes 20 ms to load, and most texts are plain ASCII. */
let segmenter: Intl.Segmenter | undefined

function graphemesOf(text: string): string[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

const combining = /^[\p{Mn}\p{Me}]/u
const emojiSequence = /^(?:\p{Regional_Indicator}{2}|.\ufe0f)/u

function graphemeWidth(grapheme: string): number {
  if (combining.test(grapheme)) return 0
  return emojiSequence.test(grapheme) ? 2 : eastAsianWidth(grapheme.codePointAt(0)!)
}

export function widthOf(text: string): number {
  if (text.length > maxMeasured || !beyondAscii.test(text)) return text.length
  return graphemesOf(text).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0)
}

/** At most `width` columns, with a mark at the end where something was left out. */
export function shorten(text: string, width: number): string {
  return widthOf(text) <= width ? text : `${headOf(text, width - 1)}…`
}

/** The same with the mark inside, for names: both ends stay, and more of the last one, which tells them apart. */
export function shortenMiddle(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  const tailWidth = Math.floor(((width - 1) * 2) / 3)
  return `${headOf(text, width - 1 - tailWidth)}…${tailOf(text, tailWidth)}`
}

/** Lines of at most `width` columns, broken between words; a longer word has a line of its own. */
export function wrapWords(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** A grapheme is seldom longer than this many UTF-16 units; of a longer text only this much is looked at for each column. */
const unitsPerColumn = 16

const headOf = (text: string, width: number): string =>
  beyondAscii.test(text)
    ? fill(graphemesOf(text.slice(0, width * unitsPerColumn)), width).join('')
    : text.slice(0, width)

function tailOf(text: string, width: number): string {
  if (width <= 0) return ''
  if (!beyondAscii.test(text)) return text.slice(-width)
  return fill(graphemesOf(text.slice(-width * unitsPerColumn)).toReversed(), width)
    .toReversed()
    .join('')
}

/** As many of the graphemes as fit. */
function fill(graphemes: readonly string[], width: number): string[] {
  const taken: string[] = []
  let used = 0
  for (const grapheme of graphemes) {
    used += graphemeWidth(grapheme)
    if (used > width) break
    taken.push(grapheme)
  }
  return taken
}
