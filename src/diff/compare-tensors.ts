// Compares one tensor of each model: structure first, then stored bytes, and numbers only where bytes differ.

import type { JsonValue, QuantParams, Tensor } from '../model/index.js'
import { formatDims, shownDims } from '../model/model.js'
import { firstDifferentByte, type Watch } from './compare-bytes.js'
import type { PayloadPair } from './compare-ranges.js'
import { compareValues } from './compare-values.js'
import { inRowOrder } from './real-values.js'
import { isClose, type ToleranceOptions } from './tolerance.js'
import type { TensorChange, TensorDifference, TensorSide, ValueDifference } from './types.js'

export interface CompareOptions extends ToleranceOptions, Watch {
  /** False: only find out what differs, and do not compare numbers unless a tolerance requires it. */
  readonly measure?: boolean | undefined
  /** Where the stored bytes first differ, or -1, if already known. */
  readonly firstByte?: number | undefined
  /** How the numbers differ, if already known. */
  readonly values?: ValueDifference | string | undefined
}

/** The difference, or undefined when there is none. */
export async function compareTensors(
  a: Tensor,
  b: Tensor,
  options: CompareOptions = {},
): Promise<TensorDifference | undefined> {
  const difference = (change: TensorChange, more: Partial<TensorDifference> = {}): TensorDifference => ({
    ...{ name: a.name, change, a: sideOf(a), b: sideOf(b) },
    ...more,
  })
  if (formatDims(a) !== formatDims(b)) return difference('shape')
  const isSameType = isOneType(a, b)
  if (!a.data && !b.data) return isSameType ? undefined : difference('type', { reason: 'there are no data' })
  if (!a.data || !b.data) return difference('data')
  const stored = isSameType ? inOneOrder(a, b) : undefined
  const found = stored && (options.firstByte ?? (await firstDifferentByte(...stored, options)))
  if (found === -1) return undefined
  const place = found === undefined ? {} : { firstByte: found }
  const change = isSameType ? 'bytes' : 'type'
  if (options.measure === false && options.tolerance === undefined)
    return difference(change, { ...place, reason: 'not measured' })
  const values = options.values ?? (await compareValues(a, b, options))
  if (typeof values === 'string') return difference(change, { ...place, reason: values })
  const close = isClose(values, options) ? ({ close: true } as const) : {}
  if (values.differing > 0) return difference('values', { ...close, values })
  // The same numbers in another element order, of a type that could not be reordered for comparison.
  if (isSameType && a.order !== b.order && !stored) return undefined
  return difference(change, { ...close, ...place, values })
}

/** The payloads whose bytes decide whether the tensors are equal; undefined where bytes do not decide. */
export function storedBytes(a: Tensor, b: Tensor): PayloadPair | undefined {
  const isAlike = a.data && b.data && formatDims(a) === formatDims(b) && isOneType(a, b)
  return isAlike ? inOneOrder(a, b) : undefined
}

const isOneType = (a: Tensor, b: Tensor): boolean => typeOf(a) === typeOf(b) && isSameQuant(a.quant, b.quant)

/** The payloads with the same element order and length; undefined where that is impossible. */
function inOneOrder(a: Tensor, b: Tensor): PayloadPair | undefined {
  const hasOneOrder = a.order === b.order || a.shape.filter((dim) => dim !== 1).length < 2
  const [left, right] = hasOneOrder ? [a, b] : [inRowOrder(a), inRowOrder(b)]
  if (typeof left === 'string' || typeof right === 'string') return undefined
  return left.data!.byteLength === right.data!.byteLength ? [left.data!, right.data!] : undefined
}

export const typeOf = (tensor: Tensor): string => (tensor.encoding ?? tensor.dtype).id

export function sideOf(tensor: Tensor): TensorSide {
  const { name, data, quant } = tensor
  return {
    name,
    dtype: typeOf(tensor),
    shape: shownDims(tensor),
    bytes: data?.byteLength ?? null,
    ...(quant && { quant: quant as unknown as JsonValue }),
  }
}

function isSameQuant(a: QuantParams | undefined, b: QuantParams | undefined): boolean {
  if (!a || !b) return a === b
  const isSameList = (x: readonly number[] = [], y: readonly number[] = []): boolean =>
    x.length === y.length && x.every((value, i) => Object.is(value, y[i]))
  const isSameForm =
    a.scheme === b.scheme && a.axis === b.axis && (a.zeroPoints === undefined) === (b.zeroPoints === undefined)
  return isSameForm && isSameList(a.scales, b.scales) && isSameList(a.zeroPoints, b.zeroPoints)
}
