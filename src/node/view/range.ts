// The header `Range` with one range of bytes, as in RFC 9110: `bytes=0-99`, `bytes=100-`, `bytes=-100`.

/** The end is exclusive. */
export type Wanted = { readonly start: number; readonly end: number } | 'whole' | 'beyond'

/** What makes no sense is ignored, as the document asks for; so are several ranges at once. */
export function wantedRange(header: string | undefined, size: number): Wanted {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header?.trim() ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'whole'
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'beyond' : { start: size - length, end: size }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return 'whole'
  if (start >= size) return 'beyond'
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) }
}
