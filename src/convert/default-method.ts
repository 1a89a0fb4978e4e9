// Which family of quantized types a container holds.
import { type DType, dtypeById } from '../dtypes/index.js'
import { requireFormat } from '../formats/index.js'
import { bytesPayload, type Tensor, type WriteCapabilities } from '../model/index.js'

/** Whether a matrix in blocks of this type can be stored as it is. */
export function takesBlocks(write: WriteCapabilities, dtype: DType): boolean {
  const shape = [1, dtype.group.elements]
  const data = bytesPayload(new Uint8Array(dtype.byteLength(shape)!))
  const matrix: Tensor = { name: 'w', dtype, shape, order: 'row', role: 'weight', data }
  return write.tensor(matrix).fits
}

/** The method for those who name none: four bits and nested scales, of ggml where the target holds its types. */
export function defaultMethod(target: string): string {
  const { write } = requireFormat(target).capabilities
  return write && takesBlocks(write, dtypeById('ggml.q4_k')!) ? 'q4_k' : 'k4'
}
