// An ONNX model as text: the text form or the JSON form of protobuf, or the language of onnx.parser. None of them is read; they are called what
// they are.
import { decodeUtf8 } from '../../bytes/index.js'

/** How much of a file is looked at. */
export const textHead = 4096

/** Blanks and comments at the beginning. */
const leading = /^(?:\s|#[^\n]*\n)*/
const topFields = /^(?:ir_version|producer_name|producer_version|domain|model_version|doc_string)\s*:/
const topMessages = /^(?:graph|opset_import|metadata_props)\s*:?\s*\{/
/** What only a model of ONNX has. */
const ownFields = /\b(?:ir_version\s*:|opset_import\s*:?\s*\{|op_type\s*:|elem_type\s*:)/
const parserHeader = /^<\s*(?:ir_version|opset_import|producer_name|domain)\s*:/
const jsonField = /"(?:irVersion|ir_version|opsetImport|opset_import)"\s*:/

/** Which of them the beginning of a file is; undefined when it is none. */
export function textForm(head: Uint8Array): string | undefined {
  const text = plainText(head.subarray(0, textHead))?.replace(leading, '')
  if (text === undefined) return undefined
  if (parserHeader.test(text)) return 'text of onnx.parser'
  if (text.startsWith('{') && jsonField.test(text)) return 'JSON'
  return (topFields.test(text) || topMessages.test(text)) && ownFields.test(text) ? 'text of protobuf' : undefined
}

/** The text, unless there is something in it that no text has. The last character may be cut. */
function plainText(bytes: Uint8Array): string | undefined {
  if (bytes.some((byte) => byte < 0x09 || (byte > 0x0d && byte < 0x20))) return undefined
  for (let cut = 0; cut < 4; cut++) {
    const text = decodeUtf8(bytes.subarray(0, bytes.byteLength - cut))
    if (text !== undefined) return text
  }
  return undefined
}
