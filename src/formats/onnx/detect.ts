// An ONNX file has no magic number: it begins with whatever field comes first. It is recognised when its first fields are those of a
// model, with a version and a graph among them.
import { varintAt } from '../../wire/protobuf/varints.js'
import { modelMessage } from './messages.js'

const latestImaginable = 1000
const graphField = 7
const versionField = 1

/** Whether the fields at the beginning can only be those of a model. */
export function looksLikeModel(head: Uint8Array, size: number): boolean {
  let at = 0
  let hasVersion = false
  let hasGraph = false
  while (at < head.byteLength) {
    const tag = varintAt(head, at)
    if (!tag) return false
    const field = Math.floor(tag.value / 8)
    const wire = tag.value % 8
    const spec = modelMessage.get(field)
    const value = varintAt(head, tag.end)
    if (!spec || !value || wire !== (spec.kind === 'varint' ? 0 : 2)) return false
    if (field === versionField) hasVersion = value.value > 0 && value.value < latestImaginable
    if (field === versionField && !hasVersion) return false
    const end = wire === 2 ? value.end + value.value : value.end
    if (end > size) return hasVersion && field === graphField && startsLikeGraph(head, value.end)
    if (field === graphField) hasGraph = startsLikeGraph(head, value.end)
    if (field === graphField && !hasGraph) return false
    if (hasVersion && hasGraph) return true
    at = end
  }
  return false
}

/** Fields of a graph are all preceded by a length. An empty graph is none that one would want to recognise. */
function startsLikeGraph(head: Uint8Array, at: number): boolean {
  const first = head[at]
  if (first === undefined) return at >= head.byteLength
  return first % 8 === 2 && [1, 2, 5, 10, 11, 12, 13, 14, 15].includes(Math.floor(first / 8))
}
