// How files begin. An ONNX file has no magic number: it begins with whatever field comes first. It is recognised when its first fields are those
// of a model, with a version and a graph among them. The same model can be spelled as text: the text form or the JSON form of protobuf, or the
// language of onnx.parser. None of these is read; they are recognised so that the message can say what they are.
import { decodeUtf8 } from '../../bytes/index.js'
import { varintAt } from '../../wire/protobuf/varints.js'
import { modelMessage } from './messages.js'

const maxPlausibleVersion = 1000
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
    if (field === versionField) hasVersion = value.value > 0 && value.value < maxPlausibleVersion
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

/** All fields of a graph have a length. An empty graph is not recognised. */
function startsLikeGraph(head: Uint8Array, at: number): boolean {
  const first = head[at]
  if (first === undefined) return at >= head.byteLength
  return first % 8 === 2 && [1, 2, 5, 10, 11, 12, 13, 14, 15].includes(Math.floor(first / 8))
}

/** How much of a file is looked at for text. */
export const textHead = 4096

/** Blanks and comments at the beginning. */
const leading = /^(?:\s|#[^\n]*\n)*/
const topFields = /^(?:ir_version|producer_name|producer_version|domain|model_version|doc_string)\s*:/
const topMessages = /^(?:graph|opset_import|metadata_props)\s*:?\s*\{/
/** What only a model of ONNX has. */
const ownFields = /\b(?:ir_version\s*:|opset_import\s*:?\s*\{|op_type\s*:|elem_type\s*:)/
const parserHeader = /^<\s*(?:ir_version|opset_import|producer_name|domain)\s*:/
const jsonField = /"(?:irVersion|ir_version|opsetImport|opset_import)"\s*:/

/** Which form of text a file begins as; undefined when it is none. */
export function textForm(head: Uint8Array): string | undefined {
  const text = plainText(head.subarray(0, textHead))?.replace(leading, '')
  if (text === undefined) return undefined
  if (parserHeader.test(text)) return 'text of onnx.parser'
  if (text.startsWith('{') && jsonField.test(text)) return 'JSON'
  return (topFields.test(text) || topMessages.test(text)) && ownFields.test(text) ? 'text of protobuf' : undefined
}

/** Undefined where there are control characters that no text has. The last character may be cut. */
function plainText(bytes: Uint8Array): string | undefined {
  if (bytes.some((byte) => byte < 0x09 || (byte > 0x0d && byte < 0x20))) return undefined
  for (let cut = 0; cut < 4; cut++) {
    const text = decodeUtf8(bytes.subarray(0, bytes.byteLength - cut))
    if (text !== undefined) return text
  }
  return undefined
}
