// QuantInfo as the reference writes it.
import { methodOf, type QuantInfo } from '../../../dtypes/mcf/types.js'
import type { Tensor } from '../../../model/index.js'
import { quantHeader, quantRecord } from '../structs.js'

/** One record per quantized tensor that has something to say. Without records there is no section, unless the file had an empty one. */
export function encodeQuantInfo(tensors: readonly Tensor[], evenEmpty: boolean): Uint8Array | undefined {
  const records = tensors.flatMap((tensor, tensorIndex) => {
    const method = methodOf(tensor.dtype.id)
    const info = tensor.extra?.quantInfo as QuantInfo | undefined
    return method && info ? [{ tensorIndex, method, info }] : []
  })
  if (records.length === 0 && !evenEmpty) return undefined
  const bytes = new Uint8Array(quantHeader.size + records.length * quantRecord.size)
  const view = new DataView(bytes.buffer)
  quantHeader.writeInto(view, 0, { version: 1, recordCount: records.length })
  for (const [i, { tensorIndex, method, info }] of records.entries()) {
    const isRaw = method.family === 'int'
    quantRecord.writeInto(view, quantHeader.size + i * quantRecord.size, {
      ...{ tensorIndex, method: method.code, domain: info.domain === 'activations' ? 1 : 0 },
      ...{ blockSize: isRaw ? 0 : 32, superSize: method.family === 'k' ? 256 : 0, reserved: new Uint8Array(6) },
      ...{ minClip: Number(info.minClip), maxClip: Number(info.maxClip) },
    })
  }
  return bytes
}
