// Names come from files. In a picture they consist of the characters that its font has; everything else (control and bidirectional
// characters, other scripts) is shown by its number, so that no name can pass for another.
import { hasGlyph } from '../output/font.js'

export function visibleText(text: string): string {
  let shown = ''
  for (const character of text)
    shown += hasGlyph(character) ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`
  return shown
}
