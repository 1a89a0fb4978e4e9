// A small BERT encoder for tests, with its linear weights either way round.
import { bytesPayload, dtypeById, type Model, type Tensor } from '../../src/kit.js'
import { sampleModel } from './sample-model.js'

export interface EncoderSize {
  readonly hidden: number
  readonly intermediate: number
  readonly layers?: number
  readonly vocab?: number
  readonly positions?: number
}

export function encoder(orientation: 'in-out' | 'out-in', size: EncoderSize, prefix = ''): Model {
  const { hidden, intermediate, layers = 1, vocab = 12, positions = 8 } = size
  const tensors: Tensor[] = []
  const vector = (name: string, length: number): void => void tensors.push(matrix(`${prefix}${name}`, [length]))
  const linear = (name: string, out: number, inner: number): void => {
    tensors.push(matrix(`${prefix}${name}.weight`, [out, inner], orientation === 'in-out'))
    vector(`${name}.bias`, out)
  }
  const norm = (name: string): void => {
    vector(`${name}.weight`, hidden)
    vector(`${name}.bias`, hidden)
  }
  tensors.push(matrix(`${prefix}embeddings.word_embeddings.weight`, [vocab, hidden]))
  tensors.push(matrix(`${prefix}embeddings.position_embeddings.weight`, [positions, hidden]))
  tensors.push(matrix(`${prefix}embeddings.token_type_embeddings.weight`, [2, hidden]))
  norm('embeddings.LayerNorm')
  for (let i = 0; i < layers; i++) {
    const layer = `encoder.layer.${i}`
    for (const name of ['query', 'key', 'value']) linear(`${layer}.attention.self.${name}`, hidden, hidden)
    linear(`${layer}.attention.output.dense`, hidden, hidden)
    norm(`${layer}.attention.output.LayerNorm`)
    linear(`${layer}.intermediate.dense`, intermediate, hidden)
    linear(`${layer}.output.dense`, hidden, intermediate)
    norm(`${layer}.output.LayerNorm`)
  }
  return sampleModel(tensors)
}

/** The element in row r and column c is made from the name, r and c, so that both orientations hold the same values. */
function matrix(name: string, shape: readonly number[], isTransposed = false): Tensor {
  const [rows = 1, columns = 1] = shape
  const values = new Float32Array(rows * columns)
  let seed = 0
  for (const letter of name) seed = (seed * 31 + letter.codePointAt(0)!) % 65_521
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++)
      values[isTransposed ? c * rows + r : r * columns + c] = ((seed + r * 131 + c) % 1009) / 64
  }
  const stored = isTransposed ? [columns, rows] : shape
  const data = bytesPayload(new Uint8Array(values.buffer))
  return { name, dtype: dtypeById('f32')!, shape: stored, order: 'row', role: 'weight', data }
}
