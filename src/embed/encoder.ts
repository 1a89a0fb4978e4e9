// Finds a BERT encoder in the tensors of a model. Sizes follow from the shapes; only the number of attention heads does not.

import { encoderPrefix, oldName, wordTable } from '../content/encoder-names.js'
import { f32 } from '../dtypes/index.js'
import { failWith } from '../errors/index.js'
import type { Model, Tensor } from '../model/index.js'
import type { Orientation } from '../model/orientation.js'
import { decodedPayload } from '../transforms/decode.js'
import { orient } from '../transforms/orientation.js'
import { rowMajor } from '../transforms/reorder.js'
import { embedCodes } from './codes.js'
import { findHeads, type HeadsOptions } from './heads.js'
import { encoderTensors, layerCount, layerNames, partsOf, positionTable, typeTable } from './names.js'

export interface EncoderShape {
  readonly vocabulary: number
  readonly positions: number
  readonly types: number
  readonly hidden: number
  readonly intermediate: number
  readonly layers: number
  readonly heads: number
}

export interface EncoderOptions extends HeadsOptions {
  /** The orientation of linear weights, where the shapes do not show it. */
  readonly orientation?: Orientation | undefined
}

export interface Encoder {
  readonly file: string
  readonly shape: EncoderShape
  /** By name, without the prefix: values as f32, linear weights as [in, out]. */
  readonly weights: ReadonlyMap<string, Tensor>
  /** Tensors of the model that the encoder does not use. */
  readonly unused: readonly string[]
  /** The shapes do not show the orientation of linear weights; the container's default was used. */
  readonly isOrientationAssumed: boolean
}

/** The encoder in a model; throws `embed/…` if there is none. No weights are read. */
export function findEncoder(model: Model, options: EncoderOptions = {}): Encoder {
  const file = model.files[0]?.name ?? 'model'
  const all = new Map(model.tensors.map((tensor) => [tensor.name, tensor]))
  const chosen = chooseTensors(all, file)
  const shape = readShape(chosen.tensors, chosen.layers, (hidden) => findHeads(model, hidden, options, file))
  const oriented = orient({ ...model, tensors: [...chosen.tensors.values()] }, 'in-out', { from: options.orientation })
  const weights = new Map(oriented.model.tensors.map((tensor) => [tensor.name, tensor]))
  checkShapes(weights, shape, file)
  const unused = [...all.keys()].filter((name) => !chosen.used.has(name))
  return { file, shape, weights, unused, isOrientationAssumed: oriented.isAssumed }
}

/** The tensors that an encoder needs, under their plain names. */
function chooseTensors(all: ReadonlyMap<string, Tensor>, file: string) {
  const prefix = encoderPrefix(all.keys())
  const layers = Math.max(1, layerCount(all.keys(), prefix))
  const tensors = new Map<string, Tensor>()
  const used = new Set<string>()
  for (const { name } of encoderTensors(layers)) {
    const tensor = all.get(prefix + name) ?? all.get(prefix + oldName(name))
    if (!tensor) {
      const message = 'there is no such tensor, and every BERT encoder has one'
      failWith(embedCodes['not-an-encoder'], { file, path: prefix + name, message })
    }
    used.add(tensor.name)
    tensors.set(name, { ...asFloats(tensor, file), name })
  }
  return { tensors, used, layers }
}

function asFloats(tensor: Tensor, file: string): Tensor {
  const { order, shape, role } = tensor
  const why = refusal(tensor)
  const data = why === undefined ? decodedPayload(tensor, 'f32') : undefined
  if (data) return rowMajor({ name: tensor.name, dtype: f32, shape, order, role, data })
  const message = why ?? `nothing decodes ${(tensor.encoding ?? tensor.dtype).id}`
  return failWith(embedCodes.undecodable, { file, path: tensor.name, message })
}

/** Integers are weights only together with scales; without them they would be misread as values. */
function refusal({ data, dtype, encoding, quant }: Tensor): string | undefined {
  const { id, kind } = encoding ?? dtype
  if (!data) return 'the tensor has no data'
  if (quant) return `${id} with scales beside it is not decoded; dequantize the model first`
  return kind === 'float' || kind === 'block' ? undefined : `${id} is not a type of weights`
}

function readShape(
  tensors: ReadonlyMap<string, Tensor>,
  layers: number,
  headsFor: (hidden: number) => number,
): EncoderShape {
  const size = (name: string, axis = 0): number => tensors.get(name)!.shape[axis] ?? 0
  const hidden = size(wordTable, 1)
  return {
    vocabulary: size(wordTable),
    positions: size(positionTable),
    types: size(typeTable),
    hidden,
    intermediate: size(partsOf(layerNames(0).intermediate).bias),
    layers,
    heads: headsFor(hidden),
  }
}

function checkShapes(weights: ReadonlyMap<string, Tensor>, sizes: EncoderShape, file: string): void {
  for (const { name, shape } of encoderTensors(sizes.layers)) {
    const found = weights.get(name)!.shape
    const wanted = shape.map((dimension) => sizes[dimension])
    if (found.length === wanted.length && wanted.every((size, i) => size === found[i] && size > 0)) continue
    const message = `the shape is [${found.join(', ')}] where the rest of the encoder asks for [${wanted.join(', ')}]`
    failWith(embedCodes.shape, { file, path: name, message })
  }
}
