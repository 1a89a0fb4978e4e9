// Answers of object stores are small XML documents of a fixed form: elements with text, without attributes that matter. These functions
// take elements out of them by name.
const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

const decode = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (all, hex, decimal, name) => {
    if (name !== undefined) return entities[name] ?? all
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : all
  })

/** What stands between the tags of each element with this name, as it is written. */
export function elementsOf(xml: string, name: string): string[] {
  const found: string[] = []
  for (let at = 0; ; ) {
    const start = xml.indexOf(`<${name}>`, at)
    const end = start < 0 ? -1 : xml.indexOf(`</${name}>`, start)
    if (end < 0) return found
    found.push(xml.slice(start + name.length + 2, end))
    at = end
  }
}

/** The text of the first element with this name. */
export function textOf(xml: string, name: string): string | undefined {
  const [first] = elementsOf(xml, name)
  return first === undefined ? undefined : decode(first)
}

/** Keys are sent in the form of addresses, since XML cannot hold every character. */
export function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

export const escapeXml = (text: string): string => text.replace(/[<>&"]/g, (char) => `&#${char.charCodeAt(0)};`)
