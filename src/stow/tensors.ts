// Describes what a container cannot store about a tensor, or had to change, and restores it.
import { countElements, fromHex, toHex } from '../bytes/index.js'
import { dtypeById, i8, isSizeOf, packed, u8 } from '../dtypes/index.js'
import type { Tensor } from '../model/index.js'
import { shapeOfShown, shownDims } from '../model/model.js'
import { castLoss, castTensor } from '../transforms/cast.js'
import { columnMajor } from '../transforms/reorder.js'
import { restoreQuant, type StowedTensor, stowQuant } from './document.js'

export interface Container {
  /** The container is the tensor's own format, which stores annotations itself. */
  readonly isHome: boolean
  /** The home format can store elements in either order. */
  readonly homeKeepsOrder: boolean
  /** The entries of `Tensor.extra` that the container stores itself. */
  readonly keeps: readonly string[]
}

/**
 * What is needed to turn `stored`, as any reader sees it, back into the original; undefined if nothing is. Without `stored` the tensor is
 * only described.
 */
export function describeTensor(
  original: Tensor,
  stored: Tensor | undefined,
  { isHome, homeKeepsOrder, keeps }: Container,
): StowedTensor | undefined {
  const { name, path, rawName, dtype, encoding, shape, role, stat, quant, extra } = original
  const stowed: StowedTensor = {
    ...(stored?.name !== name && { name }),
    // A raw name has one entry per segment of the path, so the path is needed too.
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
    ...(quant && !stored?.quant && { quant: stowQuant(quant) }),
    ...(!isHome && extra && !isDecoded(original, stored) && hasMore(extra, keeps) && { extra }),
  }
  if (stored && Object.keys(stowed).length === 0) return undefined
  return { ...(stored && { stored: stored.name }), ...stowed }
}

/** Whether splitting the name at its dots gives another path. The name of a statistic follows that of its parameter. */
export function isAmbiguous(path: readonly string[], { name, stat }: Tensor): boolean {
  const own = stat === undefined ? name : name.slice(0, -stat.length - 1)
  return path.join('.') !== own || path.length === 0 || path.some((part) => part === '' || part.includes('.'))
}

const isBytes = ({ dtype, shape }: Tensor): boolean => (dtype === u8 || dtype === i8) && shape.length === 1

const isSameShape = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((dim, i) => dim === b[i])

/** Raw bytes keep their order. Elements that were put into row order return to column order if the home format distinguishes the two. */
const isOrderLost = (original: Tensor, stored: Tensor | undefined, homeKeepsOrder: boolean): boolean =>
  stored?.order !== 'column' &&
  (homeKeepsOrder || (stored !== undefined && stored.data === original.data && stored.dtype !== original.dtype))

const hasMore = (extra: object, keeps: readonly string[]): boolean =>
  Object.keys(extra).some((key) => !keeps.includes(key))

/** Annotations about codes are meaningless for decoded values. */
const isDecoded = ({ dtype, encoding }: Tensor, stored: Tensor | undefined): boolean =>
  (encoding ?? dtype).kind === 'block' && stored?.dtype.kind !== 'block' && stored?.dtype !== dtype

/** Decoded or repacked blocks cannot be restored by casting; a type that is merely named differently needs no help. */
function isTypeChanged({ dtype, encoding, data }: Tensor, stored: Tensor | undefined): boolean {
  if (!stored) return true
  if (stored.dtype === dtype || stored.encoding === dtype || stored.dtype === encoding) return false
  if (stored.data === data) return true
  return (encoding ?? dtype).kind !== 'block' && castLoss(dtype, stored.dtype) === 'none'
}

/** The original tensor; undefined if the description does not fit the stored one. */
export function restoreTensor(stowed: StowedTensor, stored: Tensor | undefined): Tensor | undefined {
  const base = stored ? retype(stowed, stored) : declare(stowed)
  if (!base) return undefined
  const { name, path, rawName, role, stat, quant, extra } = stowed
  const shaped = { ...base, ...(stowed.shape && shapeOfShown(stowed.shape)) }
  if (countElements(shaped.shape) !== countElements(base.shape)) return undefined
  const ordered = stowed.order && base.data && base.order === 'row' ? columnMajor(shaped) : shaped
  return {
    ...ordered,
    ...(name !== undefined && { name }),
    ...(path && { path }),
    ...(rawName && { rawName: rawName.map(fromHex) }),
    ...(role && { role }),
    ...(stat !== undefined && { stat }),
    ...(quant && { quant: restoreQuant(quant) }),
    ...(extra && { extra }),
  }
}

function retype(
  { dtype: id, encoding: encodingId, bytes, shape: own, order }: StowedTensor,
  stored: Tensor,
): Tensor | undefined {
  if (id === undefined) return stored
  const dtype = dtypeById(id)
  const shape = own ?? stored.shape
  const encoding = encodingId === undefined ? undefined : dtypeById(encodingId)
  if (!dtype || (encodingId !== undefined && !encoding)) return undefined
  if (!bytes) {
    // Only lossless widening is reversed; values that no longer fit fail the read with write/value-range.
    if (!dtype.codec || !stored.dtype.codec || castLoss(dtype, stored.dtype) !== 'none') return undefined
    return castTensor(stored, dtype)
  }
  if (!isBytes(stored)) return undefined
  const shaped = shapeOfShown(shape)
  if (countElements(shaped.shape) === undefined) return undefined
  if (!isSizeOf(dtype, shaped.shape, stored.data?.byteLength ?? 0)) return undefined
  return { ...stored, dtype, encoding, ...shaped, order: order ?? 'row' }
}

/** A tensor without data or without elements. A tensor of opaque bytes can be empty whatever its shape. */
function declare({ name, dtype: id, encoding: encodingId, shape, absent }: StowedTensor): Tensor | undefined {
  const dtype = dtypeById(id ?? '')
  const encoding = encodingId === undefined ? undefined : dtypeById(encodingId)
  if (name === undefined || !dtype || !shape) return undefined
  if (!absent && !shape.includes(0) && dtype !== packed) return undefined
  const data = absent ? null : emptyPayload
  return { name, dtype, ...(encoding && { encoding }), ...shapeOfShown(shape), order: 'row', role: 'weight', data }
}

const emptyPayload = { byteLength: 0, async *chunks() {} }
