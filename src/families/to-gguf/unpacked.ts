// Checkpoints in packed forms: what llama.cpp's tables know are the weights that the codes stand for.
import { failWith } from '../../errors/index.js'
import type { Tensor } from '../../model/index.js'
import { findPacking, isKnownPacking, methodOf, packingSettings, unpackTensors } from '../../packed/index.js'
import { familyCodes } from '../codes.js'
import type { ModelConfig } from '../config.js'

/** The tensors with values in place of codes, and without the scales. MXFP4 stays where GGUF takes it as it is. */
export async function unpacked(
  tensors: readonly Tensor[],
  { raw, family }: ModelConfig,
  file: string,
  signal?: AbortSignal,
): Promise<readonly Tensor[]> {
  const settings = packingSettings(raw)
  if (!isKnownPacking(settings)) {
    const message = `weights quantized by ${JSON.stringify(methodOf(settings))} in this form cannot be converted; a version with plain weights is needed`
    failWith(familyCodes.quantization, { file, path: 'quantization_config.quant_method', message })
  }
  const packing = findPacking(tensors, settings)
  const weights = packing.weights.filter(({ scheme }) => !(family.mxfp4 && scheme.id === 'mxfp4'))
  return unpackTensors(tensors, { ...packing, weights }, signal)
}
