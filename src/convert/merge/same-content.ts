// Whether two things of different models are the same, whatever their containers are. Bytes are compared window by window, and only when
// everything else agrees.
import { compareBytes, defaultWindow } from '../../bytes/index.js'
import { type Vocabulary, vocabularyKind } from '../../content/vocabulary.js'
import { firstDifference } from '../../kernels/equal-bytes.js'
import type { Part, Payload, Tensor } from '../../model/index.js'
import { isSameRange } from '../../model/payload.js'
import { sameJson } from '../../model/same-meta.js'
import { rowMajor } from '../../transforms/reorder.js'
import { sideBySide } from '../../transforms/side-by-side.js'

/** In what two tensors differ, or undefined when they are the same. */
export async function tensorDifference(a: Tensor, b: Tensor, signal?: AbortSignal): Promise<string | undefined> {
  const [left, right] = [a, b].map(({ encoding, dtype, shape }) => `${(encoding ?? dtype).id} [${shape.join(', ')}]`)
  if (left !== right) return `${left} and ${right}`
  if (JSON.stringify(a.quant ?? null) !== JSON.stringify(b.quant ?? null)) return 'other scales'
  if (!a.data || !b.data) return a.data === b.data ? undefined : 'only one has data'
  const isSame = await isSamePayload(rowMajor(a).data!, rowMajor(b).data!, signal)
  return isSame ? undefined : 'other values'
}

export async function isSamePart(a: Part, b: Part, signal?: AbortSignal): Promise<boolean> {
  if (a.kind === vocabularyKind && a.content && b.content) return isSameVocabulary(a, b)
  if (sameJson(a.value, b.value) !== 'same') return false
  return a.data && b.data ? isSamePayload(a.data, b.data, signal) : a.data === b.data
}

function isSameVocabulary(a: Part, b: Part): boolean {
  const [left, right] = [a.content as Vocabulary, b.content as Vocabulary]
  return (
    left.tokens.length === right.tokens.length &&
    sameJson({ ...left.special }, { ...right.special }) === 'same' &&
    left.tokens.every((token, id) => compareBytes(token, right.tokens[id]!) === 0)
  )
}

async function isSamePayload(a: Payload, b: Payload, signal?: AbortSignal): Promise<boolean> {
  if (a.byteLength !== b.byteLength) return false
  if (a === b || isSameRange(a, b)) return true
  for await (const pair of sideBySide(a, b, defaultWindow, signal))
    if (firstDifference(pair.a, pair.b) >= 0) return false
  return true
}
