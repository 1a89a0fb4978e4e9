// What an MCF file can hold.

import { blocksToQ8 } from '../../content/q8-blocks.js'
import { dtypeById } from '../../dtypes/index.js'
import { methodOf } from '../../dtypes/mcf/types.js'
import { callerWord, failWith, writeCodes } from '../../errors/index.js'
import type { Fit, MetaValue, Model, Part, Tensor, WriteCapabilities } from '../../model/index.js'
import { codeOfDType } from './dtypes.js'
import { keysToFill, type ModelInfoContent, modelInfoKind } from './model-info/filled-info.js'
import { hasDocumentedInts, hasIntMark, intMarkKey } from './model-info/int-mark.js'
import { isOtherFile } from './other-files.js'
import { explainsOverflow } from './quant/overflow.js'
import { typeOfFile } from './sections.js'

export const writeCapabilities: WriteCapabilities = {
  order: 'row',
  sorts: { tensors: true, metadata: true },
  keeps: ['quantInfo'],
  rawNames: true,
  shards: false,
  sharesPayloads: true,
  tensor: fitTensor,
  metadata: fitMetadata,
  part: fitPart,
  notes: ({ tensors }) =>
    hasDocumentedInts(tensors)
      ? ['int8 and int4 tensors are laid out as the document says; the reference reader cannot read them, tare can']
      : [],
}

/** A model with config.json has ModelInfo filled from it, and entries under the same keys are not mixed up with that. */
export function writeFor(model: Model): WriteCapabilities {
  const filled = keysToFill(model)
  const metadata = (key: string, value: MetaValue): Fit<MetaValue> =>
    filled.includes(key)
      ? { fits: false, reason: 'MCF files give this key a value of their own' }
      : fitMetadata(key, value)
  const isMarked = hasDocumentedInts(model.tensors)
  const rewrites = ({ kind, content }: Part): string | undefined => {
    const info = kind === modelInfoKind ? (content as ModelInfoContent | undefined) : undefined
    if (!isMarked || !info || info.isDerived || hasIntMark(info.extras)) return undefined
    return `the section gets the entry ${intMarkKey}, which tells readers that int8 and int4 are laid out as documented`
  }
  return { ...writeCapabilities, metadata, rewrites }
}

function fitTensor(tensor: Tensor): Fit<Tensor> {
  const { dtype, shape, data, name } = tensor
  const refuse = (reason: string): Fit<Tensor> => ({ fits: false, reason })
  const repacked = repackedQ8(tensor)
  if (repacked) return { fits: true, as: repacked, reason: 'the same codes and scales, stored apart' }
  if (codeOfDType(dtype.id) === undefined) return refuse(`MCF has no type for ${dtype.id}`)
  if (!data) return refuse('MCF cannot declare a tensor without data')
  if (shape.includes(0)) return refuse('MCF has no tensors with a dimension of 0')
  if (name.length > 0xffffffff) return refuse('the name is too long')
  const { regions } = dtype
  if (!regions || regions.isKnownSize(shape, data.byteLength)) return { fits: true }
  return refuse(regions.refusal(shape, data.byteLength) ?? 'its bytes do not go with its shape')
}

/** ggml's Q8_0 holds the same codes and scales as q8, block by block. */
function repackedQ8(tensor: Tensor): Tensor | undefined {
  const type = tensor.encoding ?? tensor.dtype
  if (type.id !== 'ggml.q8_0' || !tensor.data) return undefined
  const q8 = methodOf('mcf.q8')!
  const data = blocksToQ8(tensor.data, tensor.shape, (block, isNan) => {
    if (!isNan && explainsOverflow(tensor, q8)) return
    const message = `the scale of block ${block} is ${isNan ? 'NaN' : 'infinite'}, which ${q8.id} cannot hold; ${callerWord('--dequantize', '`dequantize`')} stores the values`
    failWith(writeCodes['value-range'], {
      file: tensor.data?.origin?.source.name ?? 'tensor',
      path: tensor.name,
      message,
    })
  })
  return data && { ...tensor, dtype: dtypeById('mcf.q8')!, encoding: undefined, data }
}

/** ModelInfo has a table of keys with values of three types. */
function fitMetadata(key: string, value: MetaValue): Fit<MetaValue> {
  if (key === '') return { fits: false, reason: 'MCF has no empty keys' }
  if (value.type === 'str') return { fits: true }
  if (value.type === 'f32' && Number.isFinite(value.value)) return { fits: true }
  if (value.type === 'f64' && Number.isFinite(value.value) && Math.fround(value.value) === value.value)
    return { fits: true, as: { type: 'f32', value: value.value }, reason: 'MCF stores it as f32' }
  if (!/^[uit][0-9]+$/.test(value.type)) return { fits: false, reason: 'MCF metadata are u32, f32 or text' }
  const number = Number((value as { readonly value: number | bigint }).value)
  if (!(number >= 0 && number <= 0xffffffff)) return { fits: false, reason: 'MCF stores integers as u32' }
  if (value.type === 'u32') return { fits: true }
  return { fits: true, as: { type: 'u32', value: number }, reason: 'MCF stores it as u32' }
}

function fitPart(part: Part): Fit<Part> {
  if (part.kind !== 'file') return { fits: false, reason: 'MCF cannot store it' }
  if (typeOfFile(part.name ?? '') !== undefined || isOtherFile(part)) return { fits: true }
  return { fits: false, reason: `MCF has no section for ${part.name}` }
}
