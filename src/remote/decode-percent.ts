/** The text that a part of an address stands for; a part that is not well-formed stands for itself. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
