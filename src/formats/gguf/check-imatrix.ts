// A GGUF file can hold an importance matrix instead of a model: for each weight a tensor of sums and one of counts. llama.cpp's loader wants
// them in pairs and as f32; its quantizer also wants the keys, and numbers that are finite.
import type { CheckContext, Model, ReadContext, Tensor } from '../../model/index.js'
import { codes } from './codes.js'
import { sumsSuffix } from './structs.js'

const countsSuffix = '.counts'
const matrixKeys = ['imatrix.datasets', 'imatrix.chunk_count', 'imatrix.chunk_size']
const window = 1 << 20

export function checkMatrixIndex({ metadata, tensors }: Model, { report }: ReadContext): void {
  const missing = matrixKeys.filter((key) => !metadata.has(key))
  if (missing.length > 0) {
    const message = `${missing.join(', ')}: not there; llama-quantize refuses the matrix`
    report.report(codes['imatrix-keys'], { offset: 0, path: 'metadata', message })
  }
  const names = new Set(tensors.map(({ name }) => name))
  for (const tensor of tensors) {
    const place = { offset: tensor.data?.origin?.offset ?? 0, path: `tensors[${JSON.stringify(tensor.name)}]` }
    const partner = partnerOf(tensor.name)
    if (partner !== undefined && !names.has(partner))
      report.report(codes['imatrix-pair'], { ...place, message: `there is no ${partner}` })
    if (partner !== undefined && tensor.dtype.id !== 'f32')
      report.report(codes['imatrix-type'], { ...place, message: `it is ${tensor.dtype.id}, and must be f32` })
  }
}

function partnerOf(name: string): string | undefined {
  if (name.endsWith(sumsSuffix)) return name.slice(0, -sumsSuffix.length) + countsSuffix
  return name.endsWith(countsSuffix) ? name.slice(0, -countsSuffix.length) + sumsSuffix : undefined
}

/** Reports the first number of each tensor that is not finite, or negative. */
export async function checkMatrixValues({ tensors }: Model, context: CheckContext): Promise<void> {
  for (const tensor of tensors) {
    if (partnerOf(tensor.name) !== undefined && tensor.dtype.id === 'f32') await checkValues(tensor, context)
  }
}

async function checkValues({ name, data }: Tensor, { report, signal }: CheckContext): Promise<void> {
  let at = 0
  for await (const chunk of data?.chunks(window, signal) ?? []) {
    const values = new Float32Array(chunk.slice().buffer)
    const bad = values.findIndex((value) => !(value >= 0 && value < Infinity))
    if (bad >= 0) {
      const offset = (data!.origin?.offset ?? 0) + at + bad * 4
      const message = `value ${at / 4 + bad} is ${values[bad]}`
      report.report(codes['imatrix-value'], { offset, length: 4, path: `tensors[${JSON.stringify(name)}]`, message })
      return
    }
    at += chunk.byteLength
  }
}
