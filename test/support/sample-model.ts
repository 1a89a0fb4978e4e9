// Models made up for tests.
import { bytesPayload, dtypeById, type MetaValue, type Model, type Tensor } from '../../src/kit.js'

export function sampleTensor(name: string, dtypeId: string, shape: readonly number[], seed = 1): Tensor {
  const dtype = dtypeById(dtypeId)!
  const bytes = new Uint8Array(dtype.byteLength(shape)!)
  let state = seed
  for (let i = 0; i < bytes.byteLength; i++) {
    state = (state * 1103515245 + 12345) % 2147483648
    bytes[i] = dtypeId === 'bool' ? state % 2 : Math.floor(state / 65536) % 256
  }
  return { name, dtype, shape, order: 'row', role: 'weight', data: bytesPayload(bytes) }
}

export function sampleModel(tensors: readonly Tensor[], metadata: ReadonlyMap<string, MetaValue> = new Map()): Model {
  return { format: 'memory', metadata, tensors, parts: [], files: [] }
}
