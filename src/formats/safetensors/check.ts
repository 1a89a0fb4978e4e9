// Checks of the elements. safetensors has no checksums, so all that can be wrong is a boolean that is neither 0 nor 1.
import { defaultWindow } from '../../bytes/index.js'
import { verifyCodes } from '../../errors/index.js'
import type { CheckContext, Model } from '../../model/index.js'

export async function check(model: Model, context: CheckContext): Promise<void> {
  for (const tensor of model.tensors) {
    if (tensor.dtype.id !== 'bool' || !tensor.data) continue
    let at = 0
    for await (const chunk of tensor.data.chunks(defaultWindow, context.signal)) {
      const odd = chunk.findIndex((byte) => byte > 1)
      context.checked(chunk.byteLength)
      if (odd >= 0) {
        const offset = tensor.data.origin!.offset + at + odd
        const message = `byte ${at + odd} of the tensor is ${chunk[odd]}, neither 0 nor 1`
        context.report.report(verifyCodes['bool-value'], {
          offset,
          length: 1,
          path: `data[${JSON.stringify(tensor.name)}]`,
          message,
        })
        break
      }
      at += chunk.byteLength
    }
  }
}
