// Parts out of a model: a vocabulary as text, a file as the bytes that it was, anything else as JSON.
import { encodeUtf8 } from '../../bytes/index.js'
import { vocabularyKind } from '../../content/vocabulary.js'
import { exportVocabulary } from '../../content/vocabulary-text.js'
import { failWith, usageCodes } from '../../errors/index.js'
import { bytesPayload, type Model, type Part, type Payload } from '../../model/index.js'

export interface ExtractedPart {
  readonly part: Part
  readonly payload: Payload
  readonly warnings: readonly string[]
}

/** `name` is a part's name or, where only one part has it, its kind. */
export function extractPart(model: Model, name: string): ExtractedPart {
  const named = model.parts.filter((part) => part.name === name)
  const found = named.length > 0 ? named : model.parts.filter((part) => part.kind === name)
  const [part] = found
  if (!part || found.length > 1) {
    const known = model.parts.map((each) => each.name ?? each.kind)
    const what = part ? `${found.length} parts are called so` : 'there is no such part'
    const message = `${what}; the model has ${known.length > 0 ? known.join(', ') : 'none'}`
    return failWith(usageCodes['no-such-tensor'], { file: model.files[0]?.name ?? '', path: name, message })
  }
  if (part.kind === vocabularyKind) {
    const { bytes, warnings } = exportVocabulary(part)
    return { part, payload: bytesPayload(bytes), warnings }
  }
  const payload = part.data ?? bytesPayload(encodeUtf8(`${JSON.stringify(part.value, null, 2)}\n`))
  return { part, payload, warnings: [] }
}
