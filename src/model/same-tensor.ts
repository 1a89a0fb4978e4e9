// Whether a tensor is still the one that was read: lists make tensors anew each time, so they are compared by what they say. What they hold of
// their format's own (`quant`, `extra`) is the same object as long as nobody has changed it.

import type { Payload } from './payload.js'
import { isSameRange } from './same-range.js'
import type { Tensor } from './tensor.js'
import type { TensorList } from './tensor-list.js'

export function isSameTensor(a: Tensor, b: Tensor): boolean {
  if (a === b) return true
  return (
    a.name === b.name &&
    a.dtype === b.dtype &&
    a.encoding === b.encoding &&
    a.order === b.order &&
    a.role === b.role &&
    a.stat === b.stat &&
    a.quant === b.quant &&
    a.extra === b.extra &&
    isSameStored(a.data, b.data) &&
    areEqual(a.shape, b.shape) &&
    areEqual(a.exactShape, b.exactShape) &&
    areEqual(a.path, b.path) &&
    areEqual(a.rawName, b.rawName)
  )
}

export const areSameTensors = (a: TensorList, b: TensorList): boolean =>
  a === b || (a.length === b.length && a.every((tensor, i) => isSameTensor(tensor, b.at(i)!)))

/** Whether both are one payload, or the same bytes of the same source. */
export function isSameStored(a: Payload | null, b: Payload | null): boolean {
  return a === b || (a !== null && b !== null && isSameRange(a, b))
}

export const areEqual = <T>(a: readonly T[] | undefined, b: readonly T[] | undefined): boolean =>
  a === b || (a !== undefined && a.length === b?.length && a.every((value, i) => value === b[i]))
