// Converting with a method per tensor.
import type { Model } from '../model/index.js'
import type { MethodChoice } from '../transforms/quantize/plan.js'
import type { QuantizeSettings } from './options.js'
import { type Conversion, type ConvertOptions, planConversion } from './plan.js'

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
