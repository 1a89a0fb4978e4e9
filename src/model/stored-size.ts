import { failWith, writeCodes } from '../errors/index.js'
import type { Tensor } from './tensor.js'

/**
 * Readers compare the size of a tensor with its shape and type, so what does not agree must not be written. Throws write/layout-mismatch;
 * `file` is the output.
 */
export function requireStoredSize({ name, dtype, shape, data }: Tensor, file: string): void {
  const wanted = dtype.byteLength(shape)
  if (!data || data.byteLength === wanted) return
  const needs = wanted === undefined ? 'is more than any file can hold' : `takes ${wanted}`
  const message = `${data.byteLength} bytes are there, but shape [${shape.join(', ')}] of ${dtype.id} ${needs}`
  failWith(writeCodes['layout-mismatch'], { file, path: `tensors[${JSON.stringify(name)}]`, message })
}
