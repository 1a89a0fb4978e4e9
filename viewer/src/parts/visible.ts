// Names and values come from files. They are shown as text, with characters that hide or reorder others shown by their number.

export const hidden =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/gu

export const visible = (text: string): string =>
  text.replace(hidden, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)

/** Something to see and to point at also where a name is empty. */
export const visibleName = (name: string): string => (name === '' ? '(no name)' : visible(name))

/** The same with line breaks kept, for long texts. */
export const visibleLines = (text: string): string => text.split(/\r?\n/).map(visible).join('\n')
