// What tare calls the things that a model says about itself, and what kind of value each is.
import type { MetaValue } from '../../model/index.js'

/** The part that stands for the graph. */
export const graphKind = 'onnx.graph'
/** The path of the main graph. */
export const mainGraph = 'graph'
/** What the model says about itself stands under keys with this prefix, beside the metadata that its makers added. */
export const prefix = 'onnx.'
export const opsetPrefix = `${prefix}opset.`
/** The operators of ONNX itself have an empty domain, which is also called so. */
export const mainDomain = 'ai.onnx'

export interface Field {
  readonly number: number
  readonly isInteger?: true
  readonly isRequired?: true
}

export const modelFields: ReadonlyMap<string, Field> = new Map([
  [`${prefix}ir_version`, { number: 1, isInteger: true, isRequired: true }],
  [`${prefix}producer_name`, { number: 2 }],
  [`${prefix}producer_version`, { number: 3 }],
  [`${prefix}domain`, { number: 4 }],
  [`${prefix}model_version`, { number: 5, isInteger: true }],
  [`${prefix}doc_string`, { number: 6 }],
])
export const graphFields: ReadonlyMap<string, Field> = new Map([
  [`${prefix}graph.name`, { number: 2, isRequired: true }],
  [`${prefix}graph.doc_string`, { number: 10 }],
])
/** What stands at a key that is not a property. */
export function fieldKind(key: string): 'integer' | 'text' | undefined {
  const field = modelFields.get(key) ?? graphFields.get(key)
  if (!field) return key.startsWith(opsetPrefix) ? 'integer' : undefined
  return field.isInteger ? 'integer' : 'text'
}

const integer = (value: number): MetaValue => ({ type: 'i64', value: BigInt(value) })
const words = (value: string): MetaValue => ({ type: 'str', value })

/** What a model has to say about itself, unless its metadata do. */
export const defaultMetadata: ReadonlyMap<string, MetaValue> = new Map([
  [`${prefix}ir_version`, integer(10)],
  [`${prefix}producer_name`, words('tare')],
  [`${opsetPrefix}${mainDomain}`, integer(21)],
  [`${prefix}graph.name`, words('weights')],
])

/** Those that the metadata do not have. */
export const addedKeys = (keys: readonly string[]): readonly string[] => {
  const known = new Set(keys)
  return [...defaultMetadata.keys()].filter((key) => !known.has(key))
}
