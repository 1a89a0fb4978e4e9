import type { Cut } from '../../kit-node.js'
import { formatInteger, plural } from './format-values.js'

/** `the file ends early: 295,960 of 656,512 bytes (45 %) are here; 16 of 39 tensors are complete, and tare repair saves them` */
export function describeCut({ size, expected, isOpen, tensors }: Cut): string {
  if (isOpen)
    return `the file ends early, after ${formatInteger(size)} bytes; \`tare repair\` saves the complete tensors`
  if (!tensors) {
    const bytes = `${formatInteger(size)} of at least ${formatInteger(expected)} bytes are here`
    return `the file ends early: ${bytes}, and its index is not complete; \`tare repair\` tells what can be saved`
  }
  const share = Math.floor((100 * size) / expected)
  const bytes = `the file ends early: ${formatInteger(size)} of ${formatInteger(expected)} bytes (${share} %) are here`
  const { whole, total } = tensors
  if (whole === 0)
    return `${bytes}; ${total === 1 ? 'its tensor is not' : `none of ${plural(total, 'tensor')} is`} complete`
  const are = whole === 1 ? 'is complete, and `tare repair` saves it' : 'are complete, and `tare repair` saves them'
  return `${bytes}; ${formatInteger(whole)} of ${plural(total, 'tensor')} ${are}`
}
