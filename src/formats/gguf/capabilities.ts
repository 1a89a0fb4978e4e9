// What a GGUF file can hold.

import { encodeUtf8 } from '../../bytes/index.js'
import { q8ToBlocks } from '../../content/q8-blocks.js'
import { ggmlTypeByName, ggmlTypeOf } from '../../dtypes/ggml/index.js'
import type { DType } from '../../dtypes/index.js'
import { callerWord } from '../../errors/index.js'
import {
  type Fit,
  listOf,
  type MetaList,
  type MetaValue,
  type Model,
  type Tensor,
  type WriteCapabilities,
} from '../../model/index.js'
import {
  alignmentKey,
  alignmentOf,
  architectureKey,
  isImatrix,
  maxAlignment,
  maxDims,
  maxKeyBytes,
  maxNameBytes,
  quantizationVersionKey,
  slackKey,
} from './structs.js'
import { valueTypeOf } from './value-types.js'

const q8_0 = ggmlTypeByName('Q8_0')!.dtype

const no = <T>(reason: string): Fit<T> => ({ fits: false, reason })

export function fitTensor(tensor: Tensor): Fit<Tensor> {
  if (tensor.encoding && ggmlTypeOf(tensor.encoding)) return fitPacked(tensor, tensor.encoding)
  const repacked = tensor.dtype.id === 'mcf.q8' && tensor.data ? q8ToBlocks(tensor.data, tensor.shape) : undefined
  if (repacked) return fitRepacked({ ...tensor, dtype: q8_0, data: repacked, quant: undefined })
  if (!ggmlTypeOf(tensor.dtype)) return no(`ggml has no type for ${tensor.dtype.id}`)
  if (!tensor.data) return no('GGUF cannot declare a tensor without data')
  if (tensor.quant) return no('GGUF cannot store scales beside a tensor')
  if (tensor.shape.length > maxDims) return no(`a tensor has at most ${maxDims} dimensions in GGUF`)
  const nameBytes = tensor.rawName ? undefined : encodeUtf8(tensor.name).byteLength
  if (nameBytes === undefined) return no('names are UTF-8 in GGUF')
  if (nameBytes > maxNameBytes) return no(`names have at most ${maxNameBytes} bytes in GGUF`)
  const length = tensor.dtype.byteLength(tensor.shape)
  if (length === undefined || (tensor.dtype.kind === 'block' && length !== tensor.data.byteLength)) {
    return no(`rows of ${tensor.shape.at(-1) ?? 1} elements are not whole blocks of ${tensor.dtype.id}`)
  }
  return { fits: true }
}

/** Blocks of ggml that another container keeps as opaque bytes: the same bytes under their own type. */
function fitPacked(tensor: Tensor, encoding: DType): Fit<Tensor> {
  const unpacked: Tensor = { ...tensor, dtype: encoding, encoding: undefined }
  const fit = fitTensor(unpacked)
  return fit.fits ? { fits: true, as: unpacked, reason: `the packed bytes are ${encoding.id}` } : fit
}

/** The same codes and scales in the layout of ggml. */
function fitRepacked(tensor: Tensor): Fit<Tensor> {
  const fit = fitTensor(tensor)
  return fit.fits ? { fits: true, as: tensor, reason: `the same codes as ${tensor.dtype.id}` } : fit
}

export function fitMetadata(key: string, value: MetaValue): Fit<MetaValue> {
  const size = encodeUtf8(key).byteLength
  if (size === 0) return no('a key cannot be empty in GGUF')
  if (size > maxKeyBytes) return no(`a key has at most ${maxKeyBytes} bytes in GGUF`)
  if (key === slackKey) return no('the key stands for room in the index in GGUF')
  if (key === alignmentKey && alignmentOf(value) === undefined) {
    return no(`${alignmentKey} must be a power of two up to ${maxAlignment} as u32`)
  }
  return fitValue(value)
}

/** The types that stand in for numbers that GGUF has no type for. */
const widerTypes: ReadonlyMap<string, 'f32' | 'u8' | 'i8'> = new Map([
  ...['f16', 'bf16', 'f8_e5m2'].map((type) => [type, 'f32'] as const),
  ...['u4', 'u2', 'u1'].map((type) => [type, 'u8'] as const),
  ...['i4', 'i2', 'i1', 't2', 't1'].map((type) => [type, 'i8'] as const),
])

function fitValue(value: MetaValue): Fit<MetaValue> {
  const { type } = value
  if (type === 'array') return fitList(value)
  if (type === 'bytes') return { fits: true, as: byteList(value.value), reason: 'bytes become a list of u8' }
  if (type === 'json')
    return { fits: true, as: { type: 'str', value: JSON.stringify(value.value) }, reason: 'JSON becomes its text' }
  const wider = widerTypes.get(type)
  if (wider && 'value' in value)
    return { fits: true, as: { type: wider, value: value.value } as MetaValue, reason: `${type} becomes ${wider}` }
  return valueTypeOf(type) ? { fits: true } : no(`GGUF metadata has no type for ${type}`)
}

const byteList = (bytes: Uint8Array): MetaList => ({
  type: 'array',
  item: 'u8',
  length: bytes.byteLength,
  values: () => Array.from(bytes, (byte) => ({ type: 'u8', value: byte })),
})

/** Lists of one plain type are not looked into. */
function fitList(list: MetaList): Fit<MetaValue> {
  const type = valueTypeOf(list.item)
  if (type && type.type !== 'array') return { fits: true }
  const values: MetaValue[] = []
  let isChanged = false
  for (const item of list.values()) {
    const fit = fitValue(item)
    if (!fit.fits) return fit
    isChanged ||= fit.as !== undefined
    values.push(fit.as ?? item)
  }
  const first = values[0]?.type ?? (type ? list.item : 'u8')
  if (values.some((value) => value.type !== first)) return no('all items of a list have one type in GGUF')
  if (!isChanged && first === list.item) return { fits: true }
  return { fits: true, as: listOf(first, values), reason: `a list of ${list.item} becomes a list of ${first}` }
}

export const writeCapabilities: WriteCapabilities = {
  order: 'row',
  shards: true,
  tensor: fitTensor,
  metadata: fitMetadata,
  part: () => no('GGUF cannot store it'),
  notes: notesOn,
}

/** The reference of AERO notes here that a file was made from GGUF. */
const sourceKey = 'source_format'

/**
 * The same for one model. The reference's converter to AERO keeps dimensions in GGUF's order, innermost first; on the way back they must not
 * be reversed again. Blocks show whether the note is right: only in one order are their rows whole.
 */
export function writeFor({ metadata, tensors }: Model): WriteCapabilities {
  const isQuantized = tensors.some(({ dtype, encoding }) => (encoding ?? dtype).kind === 'block')
  const addedKeys = (keys: readonly string[]): string[] =>
    isQuantized && !keys.includes(quantizationVersionKey) ? [quantizationVersionKey] : []
  const source = metadata.get(sourceKey)
  const packed = tensors.filter(({ encoding, shape }) => encoding && shape.length > 1)
  const isReversed =
    source?.type === 'str' &&
    source.value === 'gguf' &&
    packed.length > 0 &&
    packed.every(({ encoding, shape }) => encoding!.byteLength(shape.toReversed()) !== undefined)
  return { ...writeCapabilities, addedKeys, ...(isReversed && { tensor: fitReversed }) }
}

/** Only the caller knows the architecture; what is written is a container of tensors until then. */
function notesOn({ metadata, tensors }: Model): string[] {
  if (metadata.get(architectureKey)?.type === 'str' || isImatrix({ metadata, tensors })) return []
  return [
    `no architecture is stated, so programs will not run the file; ${callerWord(`--set ${architectureKey}=NAME`, `set: { '${architectureKey}': NAME }`)} adds it`,
  ]
}

function fitReversed(tensor: Tensor): Fit<Tensor> {
  if (tensor.shape.length < 2) return fitTensor(tensor)
  const turned: Tensor = { ...tensor, shape: tensor.shape.toReversed() }
  const fit = fitTensor(turned)
  const reason = 'its dimensions stand fastest first, as in the file that it came from'
  return fit.fits ? { fits: true, as: fit.as ?? turned, reason } : fit
}
