// What these files can hold: float32 tensors of one to 2^30-1 elements with up to 8 dimensions, and the settings of an optimizer.
import { countElements } from '../../bytes/index.js'
import { f32 } from '../../dtypes/index.js'
import type { Fit, MetaValue, Model, OptionValues, Part, Tensor, WriteCapabilities } from '../../model/index.js'
import { chooseType } from './file-type.js'
import { type FileType, maxDims, titleOf } from './header.js'
import { isKnownSetting } from './optimizer/classes.js'
import { contentOf, findOptimizer } from './optimizer/settings.js'

/** The data of a tensor has a 32-bit length. */
const maxElements = 2 ** 30 - 1

export interface WriteChoices {
  readonly canonical: boolean
  readonly keepBatch: boolean
  readonly type: FileType | undefined
}

/** Answers without knowledge of the model: for a Model file, and for settings that the reference knows. */
export const write: WriteCapabilities = capabilitiesOf({ canonical: false, keepBatch: false, type: undefined }, false)

export function writeFor(model: Model, extra: OptionValues, name = ''): WriteCapabilities {
  const asked = extra['file-type'] as FileType | undefined
  const { type, note } = chooseType(model, { name, asked, hasSettings: findOptimizer(model.parts) !== undefined })
  const choices = { canonical: extra.canonical === true, keepBatch: extra['keep-batch'] === true, type }
  return { ...capabilitiesOf(choices, type === 'optimizer'), ...(note !== undefined && { notes: () => [note] }) }
}

function capabilitiesOf(choices: WriteChoices, isOptimizer: boolean): WriteCapabilities {
  return {
    order: 'column',
    paths: true,
    shards: false,
    tensor: (tensor) => fitTensor(tensor, choices),
    metadata: (key, value) => fitSetting(key, value, isOptimizer),
    part(part: Part): Fit<Part> {
      return contentOf(part) ? { fits: true } : { fits: false, reason: 'primitiv files have no place for it' }
    },
  }
}

/** Settings have two types. Those of unknown optimizers are told from other metadata only in an Optimizer file, which holds nothing else. */
export function fitSetting(key: string, value: MetaValue, isOptimizer: boolean): Fit<MetaValue> {
  const isNumber = value.type === 'u32' || value.type === 'f32'
  if (isNumber && (isOptimizer || isKnownSetting(key))) return { fits: true }
  if (!isOptimizer)
    return { fits: false, reason: 'primitiv files hold no metadata beside the settings of an optimizer' }
  return { fits: false, reason: 'the settings of an optimizer are u32 or f32' }
}

function fitTensor(tensor: Tensor, choices: WriteChoices): Fit<Tensor> {
  const no = (reason: string): Fit<Tensor> => ({ fits: false, reason })
  const { dtype, shape, data, path, role, name } = tensor
  const { type } = choices
  if (type === 'optimizer') return no('the settings of an optimizer are a file of their own, without tensors')
  if (tensor.quant) return no('primitiv cannot store scales; dequantize first')
  if (dtype.id !== f32.id) return no(`primitiv tensors are f32, not ${dtype.id}`)
  if (isSingle(type) && type !== 'parameter' && role === 'state')
    return no(`a ${titleOf(type)} file cannot store statistics`)
  if (!data && type !== 'shape' && !(type === undefined && path?.length === 0))
    return no(isSingle(type) ? `a ${titleOf(type)} file holds values` : 'primitiv cannot name a tensor without data')
  if (role === 'state' && tensor.stat === undefined && !name.includes('#'))
    return no('it is not a statistic of a parameter: its name has no # with the name of the statistic after it')
  if (!name.isWellFormed()) return no('the name holds half of a surrogate pair, which has no bytes')
  const count = countElements(shape)
  if (count === 0) return no('primitiv has no empty tensors')
  if (count === undefined || count > maxElements) return no(`primitiv tensors have at most ${maxElements} elements`)
  const stored = storedShape(tensor, choices)
  if (stored.dims.length > maxDims) return no(`primitiv tensors have at most ${maxDims} dimensions`)
  return describeChange(tensor, stored, type)
}

export interface WrittenShape {
  readonly dims: readonly number[]
  readonly batch: number
}

/** What is written for a shape. Ones at the end are kept, unless asked otherwise or when there is no room for them. */
export function storedShape(tensor: Tensor, choices: WriteChoices): WrittenShape {
  const { shape, extra, role } = tensor
  const isTooDeep = withoutOnes(shape).length > maxDims
  // A statistic that is too deep by one fits only if its last dimension is a batch, even where nothing says that it was one.
  if (isTooDeep && role === 'state' && extra?.batch === undefined) {
    const dims = withoutOnes(shape)
    return { dims: dims.slice(0, -1), batch: dims.at(-1)! }
  }
  const batch = typeof extra?.batch === 'number' && extra.batch === shape.at(-1) ? extra.batch : 1
  const keepsBatch = batch > 1 && (choices.keepBatch || isTooDeep)
  const dims = keepsBatch ? shape.slice(0, -1) : shape
  const isTrimmed = choices.canonical || dims.length > maxDims
  return { dims: isTrimmed ? withoutOnes(dims) : dims, batch: keepsBatch ? batch : 1 }
}

function withoutOnes(dims: readonly number[]): readonly number[] {
  let end = dims.length
  while (end > 0 && dims[end - 1] === 1) end--
  return dims.slice(0, end)
}

function describeChange(tensor: Tensor, { dims, batch }: WrittenShape, type: FileType | undefined): Fit<Tensor> {
  const shape = batch > 1 ? [...dims, batch] : dims
  const stated = tensor.extra?.batch
  const changes: string[] = []
  let as = tensor
  if (shape.length < tensor.shape.length) {
    as = { ...as, shape }
    changes.push('dimensions of 1 at the end of the shape are left out')
  } else if (stated !== undefined && batch === 1) {
    const { batch: _, ...extra } = tensor.extra!
    as = { ...as, extra }
    changes.push('the batch becomes an ordinary last dimension')
  }
  if (isSingle(type) && isNamed(tensor)) changes.push(`a ${titleOf(type)} file has no place for the name`)
  const dropsValues = type === 'shape' && tensor.data !== null
  if (dropsValues) {
    as = { ...as, data: null }
    changes.push('a Shape file holds no values')
  }
  if (changes.length > 0) return { fits: true, as, reason: changes.join('; '), loss: dropsValues ? 'content' : 'form' }
  if (batch === 1 || stated !== undefined) return { fits: true }
  return { fits: true, as, reason: 'the last dimension is written as a batch', loss: 'none' }
}

/** Files of these types hold one tensor, without its name. */
const isSingle = (type: FileType | undefined): type is 'shape' | 'tensor' | 'parameter' =>
  type === 'shape' || type === 'tensor' || type === 'parameter'

/** Whether the parameter, or the one that a statistic belongs to, is called anything. */
const isNamed = ({ path, name, stat }: Tensor): boolean => (path ? path.length > 0 : name !== '' && name !== `#${stat}`)
