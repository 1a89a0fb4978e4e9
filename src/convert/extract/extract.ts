// One tensor out: as it is stored, decoded to another type, whole or in part.
import { dtypeById, dtypes } from '../../dtypes/index.js'
import { callerWord, didYouMean, failWith, usageCodes } from '../../errors/index.js'
import type { FileLayout, Model, Tensor } from '../../model/index.js'
import { formatDims } from '../../model/model.js'
import { castTensor } from '../../transforms/cast.js'
import { rowMajor } from '../../transforms/reorder.js'
import { npyDescription, npyHeader } from '../../wire/npy/header.js'
import { refuseName } from './nearest-names.js'
import { parseSlice, sliceTensor } from './slice.js'

export interface ExtractOptions {
  /** The id of the element type to decode to. */
  readonly as?: string | undefined
  /** Python's notation: `0:10,:`. */
  readonly slice?: string | undefined
}

/** The tensor with this name, or `usage/no-such-tensor` with the names that are most like it. */
export function findTensor(model: Model, name: string): Tensor {
  return model.tensors.find((tensor) => tensor.name === name) ?? refuseName(model, name)
}

/** The tensor that was requested, with a lazy payload. Without options these are the stored bytes, untouched. */
export function extractTensor(model: Model, name: string, options: ExtractOptions = {}): Tensor {
  let tensor = findTensor(model, name)
  if (!tensor.data) {
    const message = `${JSON.stringify(name)} is declared without data`
    failWith(usageCodes['no-such-tensor'], { file: model.files[0]?.name ?? '', path: name, message })
  }
  if (options.as === undefined && options.slice === undefined) return tensor
  tensor = rowMajor(tensor)
  if (options.as !== undefined) {
    const dtype = dtypeById(options.as)
    if (!dtype?.codec)
      return failWith(usageCodes.option, {
        file: callerWord('--as', 'as'),
        message: `there is no element type "${options.as}" to decode to${didYouMean(options.as, dtypes.keys())}`,
      })
    tensor = castTensor(tensor, dtype)
  }
  return options.slice === undefined ? tensor : sliceTensor(tensor, parseSlice(options.slice, tensor.shape))
}

/** An NPY file with one tensor. */
export function npyLayout(tensor: Tensor, name: string): FileLayout {
  const dtype = tensor.dtype.id
  if (npyDescription(dtype) === undefined || !tensor.data) {
    const message = `NumPy has no type for ${dtype}; add ${callerWord('--as f32', "as: 'f32'")}, or write the stored bytes to a .bin file`
    failWith(usageCodes.option, { file: name, path: tensor.name, message })
  }
  if (!tensor.shape.every(Number.isSafeInteger)) {
    const message = `the shape is ${formatDims(tensor)}, with a dimension beyond 2^53-1; write the stored bytes to a .bin file`
    failWith(usageCodes.option, { file: name, path: tensor.name, message })
  }
  return {
    name,
    slots: [
      { kind: 'bytes', path: 'header', bytes: npyHeader(dtype, tensor.shape, tensor.order === 'column') },
      { kind: 'payload', path: 'data', payload: tensor.data },
    ],
  }
}
