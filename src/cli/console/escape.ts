// Names and texts come from files, and a terminal obeys what it is sent: control characters move the cursor or fill the clipboard,
// bidirectional marks reorder a line, invisible characters make two names look alike. All of these are shown as escapes instead.

/** Control (Cc) and format (Cf) characters, line and paragraph separators, lone surrogates, and letters that have no shape. */
const deceptive = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|\u034f|\u17b4|\u17b5/gu

/** Nearly every text is plain ASCII, and this test is faster. */
const beyondAscii = /[^\x20-\x7e]/

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function visible(character: string): string {
  const code = character.codePointAt(0)!
  const hex = code.toString(16)
  if (code < 0x100) return short[character] ?? `\\x${hex.padStart(2, '0')}`
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`
}

/** For text that is only read: messages, values. */
export const escapeText = (text: string): string => (beyondAscii.test(text) ? text.replace(deceptive, visible) : text)

/** For text of several lines, whose ends stay. */
export const escapeLines = (text: string): string => text.split('\n').map(escapeText).join('\n')

/** For names: different names look different, since a backslash is doubled. */
export const escapeName = (name: string): string =>
  escapeText(name.includes('\\') ? name.replaceAll('\\', '\\\\') : name)

/** For finished JSON: such characters occur only inside its strings, where an escape means the same. */
export function escapeJson(json: string): string {
  if (!beyondAscii.test(json)) return json
  return json.replace(deceptive, (character) => {
    let escaped = ''
    for (let i = 0; i < character.length; i++) escaped += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`
    return escaped
  })
}
