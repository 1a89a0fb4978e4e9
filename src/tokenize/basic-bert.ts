// How BERT cuts a text into words: control characters go, every ideograph and every punctuation mark is a word of its own, and for
// uncased models letters become small and lose their accents.

/** U+0000, U+FFFD and the categories control, format, surrogate and private use, but for the three that count as white space. */
const removed = /(?![\t\n\r])[\0\ufffd\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu

/**
 * The blocks of CJK ideographs. Hangul, hiragana and katakana are not among them: their languages put spaces between words, or are cut
 * by the vocabulary.
 */
const ideographs =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b820}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/gu

/** Unicode's punctuation, and the ASCII signs that Unicode calls symbols: $ + < = > ^ ` | ~ */
const punctuation = /[\p{P}$+<=>^`|~]/gu

const accents = /\p{Mn}+/gu
const space = /\p{White_Space}+/u

export function splitBert(text: string, lowercase: boolean): string[] {
  let plain = text.replace(removed, '').replace(ideographs, ' $& ')
  if (lowercase) plain = plain.toLowerCase().normalize('NFD').replace(accents, '')
  return plain
    .replace(punctuation, ' $& ')
    .split(space)
    .filter((word) => word !== '')
}
