import type { Payload } from './payload.js'

/** Whether both are the same bytes of the same source. */
export function isSameRange({ origin: a }: Payload, { origin: b }: Payload): boolean {
  return a !== undefined && a.source === b?.source && a.offset === b.offset && a.length === b.length
}
