import type { Part, ReadContext, Tensor } from '../../model/index.js'
import { findOrientation } from '../../model/orientation.js'
import { codes } from './codes.js'
import { type LayoutName, orientationOf, orientationPart } from './parts.js'

const show = { 'in-out': '[in, out]', 'out-in': '[out, in]' } as const

/** Says which way linear weights lie, and complains when readers of the layout would take them for their transposes. */
export function reportOrientation(tensors: readonly Tensor[], layout: LayoutName, { report }: ReadContext): Part[] {
  const found = findOrientation(tensors)
  if (found.linear === 'none') return []
  const usual = orientationOf[layout]
  const offset = tensors.find(({ name }) => name === found.names[0])?.data?.origin?.offset ?? 0
  const place = { offset, path: `data[${JSON.stringify(found.names[0])}]` }
  if (found.linear === 'undecidable') {
    const message = `the shapes of ${found.names.length} linear weights do not tell how they lie; ${show[usual]} is usual in a ${layout} file`
    report.report(codes['orientation-undecidable'], { ...place, message })
  } else if (found.linear !== usual) {
    const message = `${found.names.length} linear weights are stored ${show[found.linear]}, but readers of ${layout} files take them as ${show[usual]}`
    report.report(codes.orientation, { ...place, message })
  }
  return orientationPart(found, layout)
}
