// Tensors in a pickle are calls of PyTorch's rebuild functions. Their arguments are read here as data: storage, offset, size, stride, and
// some functions wrap others.
import { toSafe } from '../../../bytes/index.js'
import { type DType, dtypeById } from '../../../dtypes/index.js'
import type { QuantParams } from '../../../model/index.js'
import {
  PickleDict,
  PickleGlobal,
  PickleList,
  PickleObject,
  PickleReference,
  type PickleValue,
} from '../../../wire/pickle/pickle.js'
import type { StorageId, StorageIds } from './storages.js'
import { elementTypes, packedTypes } from './types.js'

/** PyTorch can note that a tensor is the conjugate or the negative of what its storage holds. */
export interface SignFlags {
  readonly conjugate: boolean
  readonly negative: boolean
}

/** A tensor as its file describes it, not yet checked against the storage. First element and strides count elements. */
export interface TensorView {
  readonly kind: 'view'
  readonly storage: StorageId
  readonly dtype: DType
  readonly first: number
  readonly shape: readonly number[]
  readonly strides: readonly number[]
  readonly signs: SignFlags
  readonly quant?: QuantParams
  /** Scales and zero points of each channel, which are tensors themselves, and the axis that the channels are counted on. */
  readonly channels?: { readonly axis: number; readonly parts: NamedParts }
  /** Elements per byte, where the shape counts bytes. */
  readonly pack?: number
}

export type NamedParts = readonly (readonly [name: string, value: PickleValue])[]

export type Rebuilt =
  | TensorView
  /** Declared without data. */
  | { readonly kind: 'meta'; readonly dtype: DType; readonly shape: readonly number[] }
  /** Several tensors in one. */
  | { readonly kind: 'parts'; readonly code: 'sparse' | 'nested'; readonly parts: NamedParts }
  /** It was reported before that the storage is not in order. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'unsupported'; readonly message: string }
  | { readonly kind: 'wrong'; readonly message: string }

const plain: SignFlags = { conjugate: false, negative: false }

const wrong = (message: string): Rebuilt => ({ kind: 'wrong', message })
const unsupported = (message: string): Rebuilt => ({ kind: 'unsupported', message })

/** The calls that only wrap another tensor, which is their first argument. */
const wrappers = new Set([
  'torch._utils._rebuild_parameter',
  'torch._utils._rebuild_parameter_with_state',
  'torch._utils._rebuild_device_tensor_from_cpu_tensor',
  'torch.nn.parameter.Parameter',
  'torch.nn.parameter.Buffer',
])

/** How many wrappers may lie around a tensor. */
const maxWrappers = 8

/** What a call rebuilds, or undefined when it is not a tensor. */
export function rebuild(value: PickleValue, ids: StorageIds, depth = 0): Rebuilt | undefined {
  if (value instanceof PickleReference) return wholeStorage(ids[value.index])
  if (value instanceof BuiltView) return value
  if (!(value instanceof PickleObject)) return undefined
  const name = value.className
  if (name === undefined || depth > maxWrappers) return undefined
  const args = value.args instanceof PickleList ? value.args.items : []
  if (wrappers.has(name)) return rebuild(args[0] ?? null, ids, depth + 1) ?? wrong('a parameter without a tensor')
  switch (name) {
    case 'torch._utils._rebuild_tensor':
    case 'torch._utils._rebuild_tensor_v2':
      return view(args, undefined, args[6], ids)
    case 'torch._utils._rebuild_tensor_v3':
      return view(args, args[6] ?? null, args[7], ids)
    case 'torch._utils._rebuild_qtensor':
      return quantized(args, ids)
    case 'torch._utils._rebuild_meta_tensor_no_storage':
      return meta(args)
    case 'torch._utils._rebuild_sparse_tensor':
    case 'torch._utils._rebuild_sparse_csr_tensor':
      return sparse(args)
    case 'torch._utils._rebuild_nested_tensor':
      return nested(args)
    case 'torch.nested._internal.nested_tensor._rebuild_njt':
      return jagged(args)
    case 'torch._tensor._rebuild_from_type_v2':
    case 'torch._tensor._rebuild_from_type':
      return ofType(args, ids, depth, value)
    case 'torch._utils._rebuild_device_tensor_from_numpy':
    case 'torch._utils._rebuild_wrapper_subclass':
      return unsupported(`${name} makes a kind of tensor that is not read`)
    default:
      return undefined
  }
}

/** A call of `_rebuild_tensor_v2` that was turned into its view while the pickle was read. */
class BuiltView extends PickleObject implements TensorView {
  readonly storage: StorageId
  readonly first: number
  readonly shape: readonly number[]
  readonly strides: readonly number[]

  constructor(
    callee: PickleGlobal,
    offset: number,
    view: TensorView,
    shape: readonly number[],
    strides: readonly number[],
  ) {
    super(callee, null, offset)
    this.storage = view.storage
    this.first = view.first
    this.shape = shape
    this.strides = strides
  }

  get kind(): 'view' {
    return 'view'
  }

  get dtype(): DType {
    return this.storage.dtype!
  }

  get signs(): SignFlags {
    return plain
  }
}

/**
 * Makes views of nearly all tensors while a pickle is read, so that neither the calls nor their arguments are kept: a checkpoint can have a
 * hundred thousand. Calls with anything that could change afterwards (a dictionary of flags, a list for a tuple) are left for `rebuild`, and so are those that are wrong.
 */
export class ViewBuilder {
  readonly #ids: StorageIds
  /** By its text; models have few different shapes. */
  readonly #shapes = new Map<string, readonly number[]>()

  /** `ids` has all references that came before a call. */
  constructor(ids: StorageIds) {
    this.#ids = ids
  }

  build(callee: PickleValue, args: PickleValue, offset: number): PickleObject | undefined {
    if (!(callee instanceof PickleGlobal) || callee.fullName !== 'torch._utils._rebuild_tensor_v2') return undefined
    const items = args instanceof PickleList ? args.items : []
    if (items.length > 6 || !isTuple(items[2]) || !isTuple(items[3])) return undefined
    const made = view(items, undefined, undefined, this.#ids)
    if (made.kind !== 'view') return undefined
    return new BuiltView(callee, offset, made, this.#shared(made.shape), this.#shared(made.strides))
  }

  #shared(shape: readonly number[]): readonly number[] {
    const text = shape.join()
    const known = this.#shapes.get(text)
    if (!known) this.#shapes.set(text, shape)
    return known ?? shape
  }
}

const isTuple = (value: PickleValue | undefined): boolean => value instanceof PickleList && value.kind === 'tuple'

/** (function, type, arguments, state): what the function rebuilds, given another class. */
function ofType(
  [callee, , args]: readonly PickleValue[],
  ids: StorageIds,
  depth: number,
  { offset }: PickleObject,
): Rebuilt {
  const inner = new PickleObject(callee ?? null, args ?? null, offset)
  return rebuild(inner, ids, depth + 1) ?? wrong('the function named for rebuilding is none that rebuilds tensors')
}

function wholeStorage(id: StorageId | undefined): Rebuilt {
  if (!id) return { kind: 'missing' }
  const dtype = id.dtype ?? dtypeById('u8')!
  const shape = [(id.byteLength / id.elementSize) * dtype.group.elements]
  return { kind: 'view', storage: id, dtype, first: 0, shape, strides: [1], signs: plain }
}

function view(
  [storage, offset, size, stride]: readonly PickleValue[],
  type: PickleValue | undefined,
  flags: PickleValue | undefined,
  ids: StorageIds,
): Rebuilt {
  if (!(storage instanceof PickleReference)) return wrong('the first argument is not a storage')
  const shape = sizes(size)
  const strides = sizes(stride)
  const first = typeof offset === 'bigint' ? toSafe(offset) : undefined
  if (first === undefined) return wrong(`the offset ${show(offset)} is not a place in a storage`)
  if (!shape) return wrong(`the size ${show(size)} is not a list of dimensions`)
  if (!strides) return wrong(`the stride ${show(stride)} is not a list of distances`)
  if (shape.length !== strides.length) return wrong(`${shape.length} dimensions, but ${strides.length} strides`)
  const id = ids[storage.index]
  if (!id) return { kind: 'missing' }
  const packed = type instanceof PickleGlobal && type.module === 'torch' ? packedTypes.get(type.name) : undefined
  const dtype = packed ?? (type === undefined ? id.dtype : elementType(type))
  if (!dtype || (packed && shape.length === 0)) {
    const isNamed = type instanceof PickleGlobal && type.module === 'torch'
    return isNamed ? unsupported(`elements of ${type.fullName} are not read`) : wrong('the element type is not stated')
  }
  const pack = packed && { pack: packed.group.elements }
  return { kind: 'view', storage: id, dtype, first, shape, strides, signs: signsOf(flags), ...pack }
}

function elementType(value: PickleValue): DType | undefined {
  return value instanceof PickleGlobal && value.module === 'torch' ? elementTypes.get(value.name) : undefined
}

function signsOf(flags: PickleValue | undefined): SignFlags {
  if (!(flags instanceof PickleDict)) return plain
  return { conjugate: flags.get('conj') === true, negative: flags.get('neg') === true }
}

/** (storage, offset, size, stride, (scheme, scale, zero point), …); by channels (scheme, scales, zero points, axis). */
function quantized(args: readonly PickleValue[], ids: StorageIds): Rebuilt {
  const rebuilt = view(args, undefined, undefined, ids)
  if (rebuilt.kind !== 'view') return rebuilt
  const [scheme, scale, zeroPoint, axis] = args[4] instanceof PickleList ? args[4].items : []
  const name = scheme instanceof PickleGlobal ? scheme.fullName : show(scheme)
  if (channelSchemes.has(name) && scale instanceof PickleObject && zeroPoint instanceof PickleObject) {
    const number = typeof axis === 'bigint' ? Number(axis) : Number.NaN
    if (!(number >= 0 && number < rebuilt.shape.length)) return wrong(`the axis ${show(axis)} is none of the tensor`)
    const parts: NamedParts = [
      ['scale', scale],
      ['zero_point', zeroPoint],
    ]
    return { ...rebuilt, channels: { axis: number, parts } }
  }
  if (name !== 'torch.per_tensor_affine' || typeof scale !== 'number' || typeof zeroPoint !== 'bigint')
    return unsupported(`quantization by ${name} is not read`)
  return { ...rebuilt, quant: { scheme: 'asymmetric', scales: [scale], zeroPoints: [Number(zeroPoint)] } }
}

const channelSchemes = new Set(['torch.per_channel_affine', 'torch.per_channel_affine_float_qparams'])

/** (dtype, size, stride, requires_grad) */
function meta([type, size]: readonly PickleValue[]): Rebuilt {
  const dtype = elementType(type ?? null)
  const shape = sizes(size)
  return dtype && shape ? { kind: 'meta', dtype, shape } : wrong('type or size of a tensor without data is missing')
}

const rowsCompressed = ['crow_indices', 'col_indices', 'values', 'size']
const columnsCompressed = ['ccol_indices', 'row_indices', 'values', 'size']

/** What the second argument holds, by layout. */
const sparseParts: ReadonlyMap<string, readonly string[]> = new Map([
  ['torch.sparse_coo', ['indices', 'values', 'size']],
  ['torch.sparse_csr', rowsCompressed],
  ['torch.sparse_bsr', rowsCompressed],
  ['torch.sparse_csc', columnsCompressed],
  ['torch.sparse_bsc', columnsCompressed],
])

/** (layout, (indices, values, size, …)) */
function sparse([layout, data]: readonly PickleValue[]): Rebuilt {
  const given = layout instanceof PickleObject ? firstArgument(layout) : layout
  const name = given instanceof PickleGlobal ? given.fullName : given
  const names = typeof name === 'string' ? sparseParts.get(name) : undefined
  const parts = data instanceof PickleList ? data.items : []
  if (!names || parts.length < names.length) return unsupported(`a sparse tensor of layout ${show(name)}`)
  return { kind: 'parts', code: 'sparse', parts: names.map((each, i) => [each, parts[i]!]) }
}

/** (elements, sizes, strides, offsets) */
function nested(args: readonly PickleValue[]): Rebuilt {
  const names = ['values', 'sizes', 'strides', 'offsets']
  if (args.length < names.length) return unsupported('a nested tensor of another kind')
  return { kind: 'parts', code: 'nested', parts: names.map((each, i) => [each, args[i]!]) }
}

/** ({values, offsets, lengths, _ragged_idx, …}); lengths may be None. */
function jagged([given]: readonly PickleValue[]): Rebuilt {
  const parts = ['values', 'offsets', 'lengths', '_ragged_idx'].flatMap((key): NamedParts => {
    const part = given instanceof PickleDict ? (given.get(key) ?? null) : null
    return part === null ? [] : [[key.replace(/^_/, ''), part]]
  })
  const isWhole = parts[0]?.[0] === 'values' && parts[1]?.[0] === 'offsets'
  return isWhole ? { kind: 'parts', code: 'nested', parts } : unsupported('a nested tensor of another kind')
}

/** More than PyTorch itself can handle. */
const maxDimensions = 64

/** A tuple, list or torch.Size of whole numbers that are not negative. */
export function sizes(value: PickleValue | undefined): number[] | undefined {
  const list = value instanceof PickleObject && value.className === 'torch.Size' ? firstArgument(value) : value
  if (!(list instanceof PickleList) || list.items.length > maxDimensions) return undefined
  const result = list.items.map((item) => (typeof item === 'bigint' ? toSafe(item) : undefined) ?? -1)
  return result.includes(-1) ? undefined : result
}

export function firstArgument(object: PickleObject): PickleValue | undefined {
  return object.args instanceof PickleList ? object.args.items[0] : undefined
}

/** A value for a message. */
function show(value: PickleValue | undefined): string {
  if (value instanceof PickleList) {
    const shown = value.items.slice(0, 8).map((item) => (item instanceof PickleList ? '…' : show(item)))
    return `(${shown.join(', ')}${value.items.length > 8 ? ', …' : ''})`
  }
  if (value instanceof PickleGlobal) return value.fullName
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80))
  return typeof value === 'object' && value !== null ? 'object' : String(value).slice(0, 40)
}
