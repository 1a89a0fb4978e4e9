// The state of the page is its address, so that every view is a link: `#/f/0/tensor/NAME?x=12&y=0&z=2` is tensor NAME of the first model,
// with what the screen adds behind the question mark. Without a model the address is `#/`.

export interface Address {
  /** Which of the open models. Absent on the first screen. */
  readonly model?: number | undefined
  readonly screen: string
  /** What the screen is about: a tensor, another model. */
  readonly subject?: string | undefined
  readonly query: Readonly<Record<string, string>>
}

export const startAddress: Address = { screen: 'drop', query: {} }

export const defaultScreen = 'overview'

/** Anything can stand in an address bar: what is not understood becomes the first screen, or the first screen of the model. */
export function parseAddress(hash: string): Address {
  const [path = '', search = ''] = split(hash.replace(/^#?\/?/, ''), '?')
  const [kind, number = '', screen = '', ...rest] = path.split('/')
  if (kind !== 'f' || !/^\d{1,4}$/.test(number)) return startAddress
  const query: Record<string, string> = Object.create(null)
  for (const [name, value] of new URLSearchParams(search)) query[name] = value
  const subject = rest.length > 0 ? decoded(rest.join('/')) : undefined
  const isPlain = /^[a-z]+$/.test(screen)
  return {
    model: Number(number),
    screen: isPlain ? screen : defaultScreen,
    ...(subject !== undefined && { subject }),
    query,
  }
}

export function formatAddress({ model, screen, subject, query }: Address): string {
  if (model === undefined) return '#/'
  const path = `#/f/${model}/${screen}${subject === undefined ? '' : `/${encodeURIComponent(subject)}`}`
  const search = new URLSearchParams(query).toString()
  return search === '' ? path : `${path}?${search}`
}

function split(text: string, at: string): [string, string] {
  const index = text.indexOf(at)
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
