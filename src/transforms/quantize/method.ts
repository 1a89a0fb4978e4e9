// The methods that tensors can be quantized with: MCF's, and the block types of ggml.

import type { EncodableBlock } from '../../dtypes/ggml/codecs.js'
import { bf16, type DType, dtypeById, dtypes, f16, f32 } from '../../dtypes/index.js'
import { blockLayout, type Domain, type Method, rawLayout } from '../../dtypes/mcf/layout.js'
import { methodOf, methods } from '../../dtypes/mcf/types.js'
import { didYouMean, failWith, usageCodes } from '../../errors/index.js'
import { mixes, mixOf } from './mixes/file-types.js'

export interface BlockMethod {
  readonly id: string
  readonly family: 'ggml'
  readonly dtype: DType
}

/** Values stay floats: what llama-quantize stores where no block type fits. */
export interface FloatMethod {
  readonly id: string
  readonly family: 'float'
  readonly dtype: DType
}

const prefix = 'ggml.'

const floatMethods: ReadonlyMap<string, FloatMethod> = new Map(
  [f32, f16, bf16].map((dtype) => [dtype.id, { id: dtype.id, family: 'float', dtype }]),
)

export const floatMethod = (name: string): FloatMethod | undefined => floatMethods.get(name.toLowerCase())

const blockMethods: ReadonlyMap<string, BlockMethod> = new Map(
  [...dtypes.values()]
    .filter(({ id, codec }) => id.startsWith(prefix) && codec?.rows)
    .map((dtype) => [dtype.id, { id: dtype.id, family: 'ggml', dtype }]),
)

/** The ggml type closest to an MCF method, in bits per weight. */
const nearest: Readonly<Record<string, string>> = {
  'mcf.int8': 'q8_0',
  'mcf.int4': 'q4_0',
  'mcf.q8': 'q8_0',
  'mcf.q4': 'q4_0',
  'mcf.k6': 'q6_k',
  'mcf.k4': 'q4_k',
  'mcf.k3': 'q3_k',
  'mcf.k2': 'q2_k',
}

export function nearestBlocks(methodId: string): { readonly name: string; readonly dtype: DType } | undefined {
  const name = nearest[methodId]
  return name === undefined ? undefined : { name, dtype: dtypeById(`${prefix}${name}`)! }
}

type MethodId = (typeof methods)[number]['id'] | `${typeof prefix}${EncodableBlock}`
type ShortName<Id extends string> = Id extends `${string}.${infer Name}` ? Name : never

/** What a method can be called: `k4` or `mcf.k4`; `q4_k` or `ggml.q4_k`. */
export type MethodName = MethodId | ShortName<MethodId>

/** The short names of all methods. */
export const methodNames = (): string[] =>
  [...methods.map((each) => each.id), ...blockMethods.keys()].map((each) => each.replace(/^.*\./, ''))

/** Those of the mixes whose names are not names of methods as well. */
export const mixNames = (): string[] => {
  const others = new Set(methodNames())
  return mixes.map(({ name }) => name).filter((name) => !others.has(name))
}

/** `k4` or `mcf.k4`; `q4_k` or `ggml.q4_k`. */
export function requireMethod(name: string): Method | BlockMethod {
  const id = name.toLowerCase()
  const known = (family: string): string => (id.includes('.') ? id : `${family}${id}`)
  const method = methodOf(known('mcf.')) ?? blockMethods.get(known(prefix))
  if (method) return method
  const mix = mixOf(name)
  if (mix) {
    const message = `${mix.name} is a mix of types for models of llama.cpp, whose metadata names an architecture and its layers; this one takes a single type, such as ${mix.type}`
    failWith(usageCodes.option, { file: 'quantize', message })
  }
  const all = `; the methods are ${methodNames().join(', ')}; the mixes are ${mixNames().join(', ')}`
  const suggestion = didYouMean(name, [...methodNames(), ...mixNames()]) || all
  return failWith(usageCodes.option, { file: 'quantize', message: `there is no method "${name}"${suggestion}` })
}

/** The size of a quantized tensor; undefined if its shape does not allow it. */
export function quantizedSize(
  method: Method | BlockMethod | FloatMethod,
  shape: readonly number[],
  domain: Domain = 'weights',
): number | undefined {
  if (method.family === 'ggml' || method.family === 'float') return method.dtype.byteLength(shape)
  return (method.family === 'int' ? rawLayout(method, shape, domain) : blockLayout(method, shape))?.byteLength
}

/** Whether ggml has no encoder for it that does without importance weights. */
export const needsWeights = (method: Method | BlockMethod | FloatMethod): boolean =>
  method.family === 'ggml' && method.dtype.codec!.rows!.weights === 'required'

/** The shapes that a method accepts. */
export const acceptedShapes = (method: Method | BlockMethod): string =>
  method.family === 'ggml' ? `rows of whole blocks of ${method.dtype.group.elements} values` : 'a matrix'
