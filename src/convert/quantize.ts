// Converting with a method per tensor, and the method for those who name none.
import { dtypeById } from '../dtypes/index.js'
import { requireFormat } from '../formats/index.js'
import type { Model } from '../model/index.js'
import type { MethodChoice } from '../transforms/quantize/plan.js'
import type { QuantizeSettings } from './options.js'
import { type Conversion, type ConvertOptions, planConversion } from './plan.js'
import { takesBlocks } from './stages/fit.js'

export type QuantizationOptions = Omit<ConvertOptions, 'quantize'> & QuantizeSettings

export interface Quantization extends Conversion {
  /** One per tensor that is kept, in the order of the model. */
  readonly choices: readonly MethodChoice[]
}

export async function planQuantization(
  model: Model,
  target: string,
  options: QuantizationOptions,
): Promise<Quantization> {
  const conversion = await planConversion(model, target, { ...options, quantize: options })
  return { ...conversion, choices: conversion.choices ?? [] }
}

/** The method for those who name none: four bits and nested scales, of ggml where the target holds its types. */
export function defaultMethod(target: string): string {
  const { write } = requireFormat(target).capabilities
  return write && takesBlocks(write, dtypeById('ggml.q4_k')!) ? 'q4_k' : 'k4'
}
