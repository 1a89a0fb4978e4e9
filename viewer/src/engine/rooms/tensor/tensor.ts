// One tensor: where it is, and what is read of it. Where a tensor is a plain range of a file, tile workers read it by themselves; others, such as
// those that are unpacked on the way, are read by the session worker, through the same handlers.

import { BlobSource } from 'tare'
import {
  type ByteSource,
  dtypeById,
  hasCodes,
  type Model,
  openSource,
  rangePayload,
  shownDims,
  type Tensor,
} from 'tare/kit'
import type { Call } from '../../calls.js'
import type { Handlers } from '../../serve.js'
import type { ModelFiles } from '../models/open.js'
import { requireOpened, requireTensor } from '../models/opened.js'

export interface TensorPlace {
  readonly source: { readonly blob: Blob; readonly name: string } | { readonly address: string }
  readonly offset: number
  readonly length: number
}

/** What a worker needs to read a tensor. */
export interface TensorRef {
  readonly model: number
  readonly index: number
  readonly name: string
  /** Of the stored values. */
  readonly type: string
  readonly shape: readonly number[]
  readonly order: 'row' | 'column'
  readonly place?: TensorPlace | undefined
}

export interface TensorInfo {
  readonly ref: TensorRef
  readonly dims: readonly (number | string)[]
  readonly bytes: number
  readonly file: string
  /** In the file; absent where the bytes are made on the way. */
  readonly offset?: number | undefined
  /** Elements and bytes of a block, or of one element; absent where the type keeps its parts elsewhere. */
  readonly group?: { readonly elements: number; readonly bytes: number } | undefined
  readonly hasCodes: boolean
  /** Why its values cannot be shown. */
  readonly problem?: string | undefined
}

export interface TensorCalls {
  tensor: Call<{ readonly model: number; readonly name: string }, TensorInfo | undefined>
}

export const tensorHandlers: Handlers = {
  tensor({ model: id, name }: TensorCalls['tensor']['ask']): TensorInfo | undefined {
    const { model } = requireOpened(id)
    const index = tensorIndexOf(model, name)
    return index === undefined ? undefined : infoOf(id, index)
  },
}

const indexes = new WeakMap<Model, Map<string, number>>()

/** Of two tensors with one name the first counts. */
export function tensorIndexOf(model: Model, name: string): number | undefined {
  let byName = indexes.get(model)
  if (!byName) {
    byName = new Map()
    for (let i = model.tensors.length - 1; i >= 0; i--) byName.set(model.tensors[i]!.name, i)
    indexes.set(model, byName)
  }
  return byName.get(name)
}

export function infoOf(id: number, index: number): TensorInfo {
  const tensor = requireTensor(id, index)
  const type = tensor.encoding ?? tensor.dtype
  const { shape, order, name, data } = tensor
  const origin = data?.origin
  return {
    ref: { model: id, index, name, type: type.id, shape, order, place: placeOf(tensor, requireOpened(id).from) },
    dims: shownDims(tensor),
    bytes: data?.byteLength ?? 0,
    file: origin?.source.name ?? '',
    offset: origin?.offset,
    group: type.regions || order === 'column' ? undefined : type.group,
    hasCodes: order === 'row' && hasCodes(type),
    problem: problemOf(tensor),
  }
}

function problemOf({ dtype, encoding, data, shape }: Tensor): string | undefined {
  const type = encoding ?? dtype
  if (!data) return 'This tensor is declared without data.'
  if (shape.includes(0)) return 'This tensor has no values.'
  if (!type.regions && !type.codec) return `Values of type ${type.id} cannot be decoded.`
  return undefined
}

function placeOf({ data, dtype, encoding }: Tensor, from: ModelFiles): TensorPlace | undefined {
  const origin = data?.origin
  const type = encoding ?? dtype
  if (!origin || dtypeById(type.id) !== type || origin.length !== data?.byteLength) return undefined
  const { handle, name } = origin.source
  const { offset, length } = origin
  if (handle?.kind === 'blob') return { source: { blob: handle.blob, name: handle.name }, offset, length }
  const address = from.kind === 'address' && name === from.name ? from.address : name
  return /^(https?|hf):/.test(address) ? { source: { address }, offset, length } : undefined
}

/** In the session worker: the tensor of the open model. */
export const openedTensor = async ({ model, index }: TensorRef): Promise<Tensor> => requireTensor(model, index)

const sources = new Map<string, Promise<ByteSource>>()

/** In a tile worker: a tensor made of its place in a file. */
export async function placedTensor({ model, name, type, shape, order, place }: TensorRef): Promise<Tensor> {
  const dtype = dtypeById(type)
  if (!place || !dtype) throw new Error(`${name} has no place that this worker could read`)
  const { source: from } = place
  // Numbers of models are not used again.
  const key = 'blob' in from ? `${model} ${from.name}` : from.address
  let source = sources.get(key)
  if (!source) {
    source = 'blob' in from ? Promise.resolve(new BlobSource(from.blob, from.name)) : openSource(from.address)
    sources.set(key, source)
    source.catch(() => sources.delete(key))
  }
  return { name, dtype, shape, order, role: 'weight', data: rangePayload(await source, place.offset, place.length) }
}
