import type { ReadProof } from '../../../node.js'
import { escapeText } from '../../console/escape.js'
import { formatSize, plural } from '../../console/format-values.js'

/** What the bytes were compared with, where the format has hashes for parts of a file. */
export function describeProof(proof: ReadProof | undefined): string {
  if (!proof) return ''
  const { against, pages, pageBytes, unprovenBytes } = proof
  if (against.length === 0) return unprovenBytes > 0 ? '; no hash to compare it with' : ''
  const checked = pageBytes > 0 ? ` (${plural(pages, 'page')})` : ''
  const rest = unprovenBytes > 0 ? `; ${formatSize(unprovenBytes)} have no hash` : ''
  return `; checked against ${escapeText(against.join(', '))}${checked}${rest}`
}
