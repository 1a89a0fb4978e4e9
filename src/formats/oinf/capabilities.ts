// What OINF can hold.
import type { Fit, MetaValue, Part, Tensor, WriteCapabilities } from '../../model/index.js'
import { nameBytes } from '../../model/name-bytes.js'
import { stow } from './metadata/stow.js'
import { writeValue } from './metadata/values.js'
import { escapeKey, escapeName } from './names.js'
import { whyQuantUnfit, withNarrowScales } from './quant.js'
import { bitsetTag, tagByDType } from './types.js'

const no = (reason: string) => ({ fits: false, reason })
const halfCharacters = 'the name holds half of a surrogate pair'

export const writeCapabilities: WriteCapabilities = {
  order: 'row',
  sorts: { tensors: true, metadata: true },
  quant: true,
  rawNames: true,
  hugeShapes: true,
  shards: false,

  tensor(tensor: Tensor): Fit<Tensor> {
    if (!tagByDType.has(tensor.dtype.id)) return no(`OINF has no type for ${tensor.dtype.id}`)
    const quant = tensor.quant && whyQuantUnfit(tensor.quant, tensor.shape)
    if (quant !== undefined) return no(`OINF cannot state this quantization: ${quant}`)
    if (!tensor.name.isWellFormed()) return no(halfCharacters)
    const stored = storedName(tensor)
    const scaled = withNarrowScales(tensor)
    if (stored === tensor.name && scaled === tensor) return { fits: true }
    const reasons = [
      ...(stored === tensor.name ? [] : [`the name is stored as ${stored}`]),
      ...(scaled === tensor ? [] : ['its scales are rounded to 32 bits']),
    ]
    return { fits: true, as: scaled, reason: reasons.join(', '), loss: scaled === tensor ? 'none' : 'precision' }
  },

  metadata(key: string, value: MetaValue): Fit<MetaValue> {
    if (!key.isWellFormed()) return no(halfCharacters)
    if (value.type === 'str' && !value.value.isWellFormed()) return no('the text holds half of a surrogate pair')
    const stowed = stow(key, value)
    if (stowed) return { fits: true, as: value, reason: `it is stored as an array under ${stowed.key}`, loss: 'none' }
    if (!writeValue(value)) return no(whyUnfit(value))
    const stored = escapeKey(key)
    if (stored === key) return { fits: true }
    return { fits: true, as: value, reason: `the key is stored as ${stored}`, loss: 'none' }
  },

  part(part: Part): Fit<Part> {
    return part.kind === 'size-variables' ? { fits: true } : no('OINF cannot store it')
  },
}

function whyUnfit(value: MetaValue): string {
  if (value.type !== 'ndarray') return `the value does not fit the type ${value.type}`
  const tag = tagByDType.get(value.dtype.id)
  return tag === undefined || tag === bitsetTag
    ? `OINF has no arrays of ${value.dtype.id}`
    : 'the array has not as many bytes as its shape wants'
}

/** What stands in the file for a tensor's name. */
export const storedName = (tensor: Tensor): string => escapeName(nameBytes(tensor) ?? tensor.name)
