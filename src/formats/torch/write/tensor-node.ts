// A tensor as the call that rebuilds it: (storage, offset, size, stride, requires_grad, hooks), and for the newer types, whose storages count
// bytes, the type after these.
import { quantizedStorages, type TorchType, torchTypes } from '../../../content/torch-save/objects/types.js'
import type { QuantParams, Tensor } from '../../../model/index.js'
import { PickleList, PickleObject, type PickleValue } from '../../../wire/pickle/pickle.js'
import { type NewStorages, named, reference, storageClass } from './storages.js'

const rebuild = {
  v2: named('torch._utils', '_rebuild_tensor_v2'),
  v3: named('torch._utils', '_rebuild_tensor_v3'),
  quantized: named('torch._utils', '_rebuild_qtensor'),
  meta: named('torch._utils', '_rebuild_meta_tensor_no_storage'),
}
const perTensor = named('torch', 'per_tensor_affine')
const orderedDict = named('collections', 'OrderedDict')

export const tuple = (items: PickleValue[]): PickleList => new PickleList('tuple', items)
export const emptyOrderedDict = (): PickleObject => new PickleObject(orderedDict, tuple([]), 0)

/** The tensor with its elements in a row. */
export function tensorNode(tensor: Tensor, storages: NewStorages): PickleObject {
  const { dtype, data, quant } = tensor
  const type = torchTypes.get(dtype.id) ?? onlyQuantized
  const shape = type.pack === 1 ? tensor.shape : tensor.shape.with(-1, tensor.shape.at(-1)! / type.pack)
  const size = numbers(shape)
  const stride = numbers(stridesOf(shape))
  const kind = named('torch', type.name)
  if (!data) return call(rebuild.meta, [kind, size, stride, false])
  const storage = storageClass(quant ? quantizedStorages.get(dtype.id) : type.storage)
  const index = storages.add(data, storage)
  const view = [reference(index, storage, countOf(type, tensor)), 0n, size, stride]
  if (quant) return call(rebuild.quantized, [...view, schemeOf(quant), false, emptyOrderedDict()])
  if (type.storage === undefined) return call(rebuild.v3, [...view, false, emptyOrderedDict(), kind])
  return call(rebuild.v2, [...view, false, emptyOrderedDict()])
}

/** Elements of half a byte, of which PyTorch has quantized ones only. The storage says what they are. */
const onlyQuantized: TorchType = { storage: undefined, name: 'quint4x2', pack: 1 }

const call = (callee: PickleValue, args: PickleValue[]): PickleObject => new PickleObject(callee, tuple(args), 0)

const schemeOf = ({ scales, zeroPoints }: QuantParams): PickleList =>
  tuple([perTensor, scales[0]!, BigInt(zeroPoints![0]!)])

const numbers = (values: readonly number[]): PickleList => tuple(values.map(BigInt))

/** Typed storages count elements, untyped ones bytes. */
const countOf = ({ storage }: TorchType, { dtype, data }: Tensor): number =>
  storage === undefined ? data!.byteLength : data!.byteLength / dtype.group.bytes

/** PyTorch takes an axis without elements for one of length 1. */
function stridesOf(shape: readonly number[]): number[] {
  const strides: number[] = []
  let stride = 1
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    strides.unshift(stride)
    stride *= Math.max(1, shape[axis]!)
  }
  return strides
}
