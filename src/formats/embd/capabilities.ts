// What the two layouts can hold. Both take tensors of one to four dimensions, none of them zero, and a vocabulary; sectioned files also
// metadata and nine element types, stream files nothing but f32.
import { encodeUtf8 } from '../../bytes/index.js'
import {
  findSpecialIds,
  type SpecialIds,
  specialNames,
  tableOf,
  type Vocabulary,
  vocabularyKind,
  vocabularyPart,
} from '../../content/vocabulary.js'
import { f32 } from '../../dtypes/index.js'
import {
  type Fit,
  type MetaValue,
  type Model,
  type OptionValues,
  type Part,
  type Tensor,
  text,
  type WriteCapabilities,
} from '../../model/index.js'
import { orientationOf } from './orientation.js'
import { isSectioned, type LayoutName, layoutToWrite, mannerOf } from './parts.js'
import { derivedKeys } from './sectioned/derive-metadata.js'
import { givenSpecialIds, withSpecialIds } from './special-ids.js'
import { dtypeCode, maxRank, maxStringLength, maxTokenCount } from './structs.js'
import { inReferenceOrder } from './tensor-order.js'

const no = (reason: string): { fits: false; reason: string } => ({ fits: false, reason })
const yes = { fits: true } as const

export const sectioned: WriteCapabilities = {
  order: 'row',
  shards: false,
  arranges: inReferenceOrder,
  tensor(tensor) {
    if (!dtypeCode.has(tensor.dtype.id)) return no(`there is no type for ${tensor.dtype.id} in EMBD files`)
    if (tensor.name === '') return no('tensors of sectioned files have a name')
    return fitTensor(tensor, 0xffff)
  },
  metadata: fitMetadata,
  part: fitVocabulary,
}

function fitVocabulary(part: Part): Fit<Part> {
  if (part.kind !== vocabularyKind) return no('EMBD files cannot store it')
  const { tokens, special } = part.content as Vocabulary
  if (tokens.some((token) => token.byteLength > 0xffff)) return no('a token has more than 65,535 bytes')
  return specialNames.every((name) => special[name] !== undefined)
    ? yes
    : withIdsByText(part, 'only all five special ids can be stored')
}

export const stream: WriteCapabilities = {
  order: 'row',
  shards: false,
  arranges: inReferenceOrder,
  weightsOnly: true,
  tensor(tensor) {
    if (tensor.dtype.id !== f32.id) return no(`stream files hold f32 only, not ${tensor.dtype.id}`)
    return fitTensor(tensor, maxStringLength)
  },
  metadata: () => no('stream files have no metadata'),
  part(part) {
    if (part.kind !== vocabularyKind) return no('EMBD stream files cannot store it')
    const { tokens } = part.content as Vocabulary
    if (tokens.length > maxTokenCount) return no(`readers of stream files take at most ${maxTokenCount} tokens`)
    if (tokens.some((token) => token.byteLength > maxStringLength)) return no('a token has more than 1,048,576 bytes')
    return withIdsByText(part, 'stream files do not store special ids')
  },
}

/** The layout is asked for, or is that of the source; a copy in the same layout leaves linear weights as they are. */
export function writeFor(model: Model, extra: OptionValues): WriteCapabilities {
  const layout: LayoutName = layoutToWrite(model, extra)
  const orientation = mannerOf(model)?.layout === layout ? 'as-is' : orientationOf[layout]
  const given = givenSpecialIds(extra, layout)
  const isAdding = layout === 'sectioned' && !isSectioned(model)
  const capabilities: WriteCapabilities = {
    ...(layout === 'stream' ? stream : sectioned),
    orientation,
    ...(isAdding && { addedKeys: (keys) => derivedKeys(model).filter((key) => !keys.includes(key)) }),
  }
  return given ? { ...capabilities, part: (part) => fitGivenIds(part, given) } : capabilities
}

/** The ids themselves are put in when the file is laid out: they were requested, so nothing is lost by them. */
function fitGivenIds(part: Part, given: SpecialIds): Fit<Part> {
  return fitVocabulary(part.kind === vocabularyKind ? withSpecialIds(part, given) : part)
}

function fitTensor(tensor: Tensor, maxName: number): Fit<Tensor> {
  const { shape } = tensor
  if (!tensor.data) return no('EMBD files cannot declare a tensor without data')
  if (tensor.quant) return no('EMBD files cannot store scales and zero points')
  if (shape.length > maxRank) return no(`EMBD tensors have at most ${maxRank} dimensions`)
  if (shape.includes(0)) return no('EMBD tensors cannot be empty')
  if (shape.some((dim) => dim > 0xffffffff)) return no('EMBD dimensions have 32 bits')
  if (encodeUtf8(tensor.name).byteLength > maxName) return no(`names have at most ${maxName} bytes`)
  if (shape.length === 0)
    return { ...yes, as: { ...tensor, shape: [1] }, reason: 'a scalar becomes a tensor of one element' }
  return yes
}

function fitMetadata(key: string, value: MetaValue): Fit<MetaValue> {
  if (encodeUtf8(key).byteLength > 0xffff) return no('metadata keys have at most 65,535 bytes')
  if (value.type === 'str') {
    const length = value.bytes?.byteLength ?? encodeUtf8(value.value).byteLength
    return length > 0xffff ? no('metadata values have at most 65,535 bytes') : yes
  }
  if ('value' in value && ['number', 'bigint', 'boolean'].includes(typeof value.value)) {
    return { ...yes, as: text(String(value.value)), reason: 'metadata values are strings' }
  }
  return no('EMBD metadata values are strings')
}

/** The part as readers will see it that know the special ids only by the text of their tokens. */
function withIdsByText(part: Part, reason: string): Fit<Part> {
  const { tokens, special } = part.content as Vocabulary
  const table = tableOf(tokens)
  const found: SpecialIds = findSpecialIds(table)
  if (specialNames.every((name) => found[name] === special[name])) return yes
  return { ...yes, as: vocabularyPart(table, found), reason: `${reason}; they are found by text` }
}
