// Which element type each tensor gets. llama.cpp computes with norms, biases and routers as f32; everything else has the type that was asked
// for.
import { bf16, type DType, dtypeById, f16, f32 } from '../../dtypes/index.js'
import type { Tensor } from '../../model/index.js'
import { castTensor } from '../../transforms/cast.js'

export type OutputType = 'f32' | 'f16' | 'bf16' | 'q8_0'

/** What GGUF calls a file in which most tensors are of a type: `general.file_type`. */
export const fileTypes: Readonly<Record<OutputType, number>> = { f32: 0, f16: 1, q8_0: 7, bf16: 32 }
/** Experts as MXFP4, whatever the rest is. */
export const mxfp4FileType = 38

const dtypes: Readonly<Record<OutputType, DType>> = { f32, f16, bf16, q8_0: dtypeById('ggml.q8_0')! }

export const isOutputType = (name: string): name is OutputType => Object.hasOwn(dtypes, name)

export interface Typing {
  readonly outputType: OutputType
  /** Only vectors and norms are f32. */
  readonly castsRouters?: boolean | undefined
}

const alwaysF32 =
  /^(blk\.\d+\.(ffn_gate_inp(_shexp)?|ssm_conv1d|shortconv\.conv|indexer\.proj|altup_(correct|predict)_coef)|position_embd|token_types)\.weight$/

function typeFor({ name, shape }: Tensor, { outputType, castsRouters }: Typing): DType {
  if (shape.length <= 1 || name.endsWith('_norm.weight')) return f32
  if (!castsRouters && (alwaysF32.test(name) || !name.endsWith('.weight'))) return f32
  const dtype = dtypes[outputType]
  // Rows that are not whole blocks.
  return dtype.byteLength(shape) === undefined ? f16 : dtype
}

/** The tensor, under its name in GGUF, with the type that it gets there. */
export const typed = (tensor: Tensor, typing: Typing): Tensor =>
  castTensor(tensor, typeFor(tensor, typing), { overflow: true })

/** The type of the first matrix of 16-bit floats; undefined if there is none. */
export function firstMatrixType(tensors: readonly Tensor[]): 'bf16' | 'f16' | undefined {
  for (const { dtype, shape } of tensors) {
    if (shape.length >= 2 && dtype === bf16) return 'bf16'
    if (shape.length >= 2 && dtype === f16) return 'f16'
  }
  return undefined
}

/** The type that the weights have, as llama.cpp's converter sees it: f32 does not count. */
export const prevailingType = (tensors: readonly Tensor[]): OutputType => firstMatrixType(tensors) ?? 'f16'
