// Which way the linear weights of an encoder lie. Nothing in a file says it, and a reader that expects the other way takes square ones for
// their transposes without noticing.
import type { JsonValue, Part, ReadContext, Tensor } from '../../model/index.js'
import { findOrientation, type Orientation, orientationKind } from '../../model/orientation.js'
import { codes } from './codes.js'
import type { LayoutName } from './parts.js'

/** How readers of a layout take linear weights: the document wants [out, in], the reference library [in, out]. */
export const orientationOf: Readonly<Record<LayoutName, Orientation>> = { sectioned: 'out-in', stream: 'in-out' }

const shown = { 'in-out': '[in, out]', 'out-in': '[out, in]' } as const

/** Says which way linear weights lie, and complains when readers of the layout would take them for their transposes. */
export function reportOrientation(tensors: readonly Tensor[], layout: LayoutName, { report }: ReadContext): Part[] {
  const found = findOrientation(tensors)
  const { linear, names } = found
  if (linear === 'none') return []
  const expected = orientationOf[layout]
  const offset = tensors.find(({ name }) => name === names[0])?.data?.origin?.offset ?? 0
  const place = { offset, path: `data[${JSON.stringify(names[0])}]` }
  if (linear === 'undecidable') {
    const message = `the shapes of ${names.length} linear weights do not tell how they lie; readers of ${layout} files take them as ${shown[expected]}`
    report.report(codes['orientation-undecidable'], { ...place, message })
  } else if (linear !== expected) {
    const message = `${names.length} linear weights are stored ${shown[linear]}, but readers of ${layout} files take them as ${shown[expected]}`
    report.report(codes.orientation, { ...place, message })
  }
  const assumed: Record<string, JsonValue> = linear === 'undecidable' ? { assumed: expected } : {}
  const value = { linear, ...assumed, tensors: names.length }
  return [{ kind: orientationKind, sharing: 'derived', value, content: found }]
}
