// What a tensor is beyond its name, type, shape and bytes, or where these had to change: described on the way in, applied on the way home.
import { countElements, fromHex, toHex } from '../bytes/index.js'
import { dtypeById, i8, isSizeOf, packed, u8 } from '../dtypes/index.js'
import { shapeOfShown, shownDims } from '../model/dims.js'
import type { Tensor } from '../model/index.js'
import { castLoss, castTensor } from '../transforms/cast.js'
import { columnMajor } from '../transforms/reorder.js'
import type { StowedTensor } from './document.js'

export interface Container {
  /** It is the tensor's own format, so it keeps annotations itself. */
  readonly isHome: boolean
  /** At home a tensor may have its elements in either order. */
  readonly homeKeepsOrder: boolean
  /** What the container itself stores of `Tensor.extra`. */
  readonly keeps: readonly string[]
}

/**
 * What must be remembered so that `stored`, read by someone who knows nothing of the original, becomes the original again; undefined when
 * nothing is. Without `stored` the tensor is only described.
 */
export function describeTensor(
  original: Tensor,
  stored: Tensor | undefined,
  { isHome, homeKeepsOrder, keeps }: Container,
): StowedTensor | undefined {
  const { name, path, rawName, dtype, encoding, shape, role, stat, quant, extra } = original
  const told: StowedTensor = {
    ...(stored?.name !== name && { name }),
    // The bytes of a name are those of the names of its path, one by one.
    ...(!isHome && path && (rawName || isAmbiguous(path, original)) && { path }),
    ...(!isHome && rawName && { rawName: rawName.map(toHex) }),
    ...(isTypeChanged(original, stored) && { dtype: dtype.id, ...(encoding && { encoding: encoding.id }) }),
    ...(!(stored && isSameShape(stored.shape, shape)) && { shape: shownDims(original) }),
    ...(original.order === 'column' && isOrderLost(original, stored, homeKeepsOrder) && { order: 'column' as const }),
    ...(stored &&
      isBytes(stored) &&
      stored.data === original.data &&
      stored.dtype !== dtype && { bytes: true as const }),
    ...(!stored && !original.data && { absent: true as const }),
    ...(!isHome && role === 'state' && { role }),
    ...(!isHome && stat !== undefined && { stat }),
    ...(quant && !stored?.quant && { quant }),
    ...(!isHome && extra && !isDecoded(original, stored) && hasMore(extra, keeps) && { extra }),
  }
  if (stored && Object.keys(told).length === 0) return undefined
  return { ...(stored && { stored: stored.name }), ...told }
}

/** Whether splitting the name at its dots gives another path. A statistic stands behind its parameter's name. */
export function isAmbiguous(path: readonly string[], { name, stat }: Tensor): boolean {
  const own = stat === undefined ? name : name.slice(0, -stat.length - 1)
  return path.join('.') !== own || path.length === 0 || path.some((part) => part === '' || part.includes('.'))
}

const isBytes = ({ dtype, shape }: Tensor): boolean => (dtype === u8 || dtype === i8) && shape.length === 1

const isSameShape = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((dim, i) => dim === b[i])

/** Mere bytes are in the order that they had; elements that were put in rows come back in columns where home tells the two apart. */
const isOrderLost = (original: Tensor, stored: Tensor | undefined, homeKeepsOrder: boolean): boolean =>
  stored?.order !== 'column' &&
  (homeKeepsOrder || (stored !== undefined && stored.data === original.data && stored.dtype !== original.dtype))

const hasMore = (extra: object, keeps: readonly string[]): boolean =>
  Object.keys(extra).some((key) => !keeps.includes(key))

/** What was said about codes means nothing for the values that they stood for. */
const isDecoded = ({ dtype, encoding }: Tensor, stored: Tensor | undefined): boolean =>
  (encoding ?? dtype).kind === 'block' && stored?.dtype.kind !== 'block' && stored?.dtype !== dtype

/** Blocks that were decoded or repacked do not come back by casting; a type that is only named in another way needs no help. */
function isTypeChanged({ dtype, encoding, data }: Tensor, stored: Tensor | undefined): boolean {
  if (!stored) return true
  if (stored.dtype === dtype || stored.encoding === dtype || stored.dtype === encoding) return false
  if (stored.data === data) return true
  return (encoding ?? dtype).kind !== 'block' && castLoss(dtype, stored.dtype) === 'none'
}

/** The tensor in its own form; undefined when the description does not fit it. */
export function restoreTensor(told: StowedTensor, stored: Tensor | undefined): Tensor | undefined {
  const base = stored ? retype(told, stored) : declare(told)
  if (!base) return undefined
  const { name, path, rawName, role, stat, quant, extra } = told
  const shaped = { ...base, ...(told.shape && shapeOfShown(told.shape)) }
  if (countElements(shaped.shape) !== countElements(base.shape)) return undefined
  const ordered = told.order && base.data && base.order === 'row' ? columnMajor(shaped) : shaped
  return {
    ...ordered,
    ...(name !== undefined && { name }),
    ...(path && { path }),
    ...(rawName && { rawName: rawName.map(fromHex) }),
    ...(role && { role }),
    ...(stat !== undefined && { stat }),
    ...(quant && { quant }),
    ...(extra && { extra }),
  }
}

function retype(
  { dtype: id, encoding: encodingId, bytes, shape: told, order }: StowedTensor,
  stored: Tensor,
): Tensor | undefined {
  if (id === undefined) return stored
  const dtype = dtypeById(id)
  const shape = told ?? stored.shape
  const encoding = encodingId === undefined ? undefined : dtypeById(encodingId)
  if (!dtype || (encodingId !== undefined && !encoding)) return undefined
  if (!bytes) {
    // Only what was widened without loss is narrowed again; values that no longer fit stop the reading with write/value-range.
    if (!dtype.codec || !stored.dtype.codec || castLoss(dtype, stored.dtype) !== 'none') return undefined
    return castTensor(stored, dtype)
  }
  if (!isBytes(stored)) return undefined
  const shaped = shapeOfShown(shape)
  if (countElements(shaped.shape) === undefined) return undefined
  if (!isSizeOf(dtype, shaped.shape, stored.data?.byteLength ?? 0)) return undefined
  return { ...stored, dtype, encoding, ...shaped, order: order ?? 'row' }
}

/** A tensor without data, or without elements; of bytes that mean nothing to anybody there can be none whatever the shape is. */
function declare({ name, dtype: id, encoding: encodingId, shape, absent }: StowedTensor): Tensor | undefined {
  const dtype = dtypeById(id ?? '')
  const encoding = encodingId === undefined ? undefined : dtypeById(encodingId)
  if (name === undefined || !dtype || !shape) return undefined
  if (!absent && !shape.includes(0) && dtype !== packed) return undefined
  const data = absent ? null : emptyPayload
  return { name, dtype, ...(encoding && { encoding }), ...shapeOfShown(shape), order: 'row', role: 'weight', data }
}

const emptyPayload = { byteLength: 0, async *chunks() {} }
