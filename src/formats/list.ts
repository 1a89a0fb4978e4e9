// The list of formats. Adding one means one folder and one line here; detection, help, the conversion matrix and the contract tests
// go over this list.
import type { CodeOf } from '../errors/index.js'
import type { Format } from '../model/index.js'
import { aero, aeroset } from './aero/index.js'
import { dcp } from './dcp/index.js'
import { embd } from './embd/index.js'
import { flax } from './flax/index.js'
import { ggjt } from './ggjt/index.js'
import { gguf } from './gguf/index.js'
import { imatrix } from './imatrix/index.js'
import { keras } from './keras/index.js'
import { mcf } from './mcf/index.js'
import { npy, npz } from './npy/index.js'
import { oinf } from './oinf/index.js'
import { onnx } from './onnx/index.js'
import { optimizerJson, primitiv } from './primitiv/index.js'
import { safetensors } from './safetensors/index.js'
import { tflite } from './tflite/index.js'
import { torch } from './torch/index.js'

const all = [
  safetensors,
  oinf,
  primitiv,
  optimizerJson,
  mcf,
  embd,
  aero,
  aeroset,
  gguf,
  ggjt,
  npy,
  npz,
  dcp,
  torch,
  onnx,
  keras,
  tflite,
  flax,
  imatrix,
] as const

/** The id of a format. */
export type FormatId = (typeof all)[number]['id']

/** The codes that formats report. */
export type FormatCode = CodeOf<(typeof all)[number]['codes']>

/** All formats, in the order in which they are asked what a file is. */
export const formats: readonly Format<FormatId>[] = all
