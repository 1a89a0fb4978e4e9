// The payload of a quantized tensor has regions (scales, sub-scales, codes), each on a multiple of 64 bytes with zeros in between. What is
// wrong in them is told in one finding per tensor and kind.
import type { Range } from '../../../bytes/index.js'
import type { Code } from '../../../errors/index.js'
import type { CheckContext, Payload, Tensor } from '../../../model/index.js'
import { codes } from '../codes.js'

/** How often something was found in a tensor, and where first. */
export class Tally {
  #count = 0
  #first = -1

  add(count: number, offset: number): void {
    if (count > 0 && this.#count === 0) this.#first = offset
    this.#count += count
  }

  report(code: Code, tensor: Tensor, context: CheckContext, what: string): void {
    if (this.#count === 0) return
    context.report.report(code, {
      offset: tensor.data!.origin!.offset + this.#first,
      path: `data[${JSON.stringify(tensor.name)}]`,
      message: `${this.#count} ${what}`,
    })
  }
}

/** Where the first byte is that is not zero; -1 where all are. */
export const oddByteIn = (bytes: Uint8Array): number => bytes.findIndex((byte) => byte !== 0)

/** `padding`: what lies between the regions of the payload. */
export async function checkPadding(
  tensor: Tensor,
  padding: readonly Range[],
  payload: Payload,
  context: CheckContext,
): Promise<void> {
  const tally = new Tally()
  for (const { start, end } of padding) {
    if (end === start) continue
    const bytes = await payload.read!(start, end - start, context.signal)
    context.checked(bytes.byteLength)
    for (const [i, byte] of bytes.entries()) if (byte !== 0) tally.add(1, start + i)
  }
  tally.report(codes.padding, tensor, context, 'bytes between the regions of the tensor are not zero')
}
