// The address of the page as a signal. Screens read it and change it with `go` and `setQuery`; the browser's back button does the rest.
import { signal } from '@preact/signals'
import { type Address, formatAddress, parseAddress } from './address.js'

export const address = signal<Address>(parseAddress(location.hash))

window.addEventListener('hashchange', () => {
  if (formatAddress(address.peek()) !== location.hash) address.value = parseAddress(location.hash)
})

/** `replace` leaves no step to go back to: for what changes while somebody looks, such as the place in a map. */
export function go(to: Address, { replace = false } = {}): void {
  const hash = formatAddress(to)
  if (hash !== location.hash) {
    if (replace) history.replaceState(null, '', hash)
    else history.pushState(null, '', hash)
  }
  address.value = to
}

/** Goes to a screen of the model that is shown. */
export const goTo = (screen: string, subject?: string, query: Record<string, string> = {}): void =>
  go({ model: address.peek().model ?? 0, screen, ...(subject !== undefined && { subject }), query })

/** An empty value takes the entry out. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const query: Record<string, string> = { ...address.peek().query }
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') delete query[name]
    else query[name] = value
  }
  go({ ...address.peek(), query }, { replace: true })
}
