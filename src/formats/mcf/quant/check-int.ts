// int8 and int4: one scale for the whole tensor, perhaps a zero point, then the codes.
import type { Range } from '../../../bytes/index.js'
import { isBareCodes, type Method, type RawLayout, rawCodeBytes, rawLayoutOf } from '../../../dtypes/mcf/layout.js'
import type { CheckContext, Payload, Tensor } from '../../../model/index.js'
import { codes } from '../codes.js'
import { checkPadding, Tally } from './regions.js'

/** `isMeant`: the file says that these tensors are as the document describes them. */
export async function checkInt(
  tensor: Tensor,
  method: Method,
  payload: Payload,
  isMeant: boolean,
  context: CheckContext,
): Promise<void> {
  const offset = payload.origin!.offset
  const path = `data[${JSON.stringify(tensor.name)}]`
  const layout = rawLayoutOf(method, tensor.shape, payload.byteLength)
  const isWhole = layout && !isBareCodes(method, tensor.shape, payload.byteLength)
  if (context.extra['accept-int'] !== true) {
    const code = codes[isMeant && isWhole ? 'int-payload' : 'unsupported-dtype-on-read']
    context.report.report(code, { offset, path, message: `${tensor.dtype.id}: the reference cannot read this tensor` })
  }
  if (!isWhole) return
  for (const at of layout.zeroOffset === undefined ? [0] : [0, layout.zeroOffset]) {
    const bytes = await payload.read!(at, 4, context.signal)
    context.checked(4)
    const value = new DataView(bytes.buffer, bytes.byteOffset, 4).getFloat32(0, true)
    if (Number.isFinite(value)) continue
    const message = `the ${at === 0 ? 'scale' : 'zero point'} is ${value}`
    context.report.report(codes['scale-not-finite'], { offset: offset + at, length: 4, path, message })
  }
  await checkPadding(tensor, paddingOf(layout), payload, context)
  // An odd number of 4-bit codes leaves half a byte.
  if (method.bits !== 4 || layout.count % 2 === 0) return
  const last = layout.codesOffset + rawCodeBytes(method, layout.count) - 1
  const [byte] = await payload.read!(last, 1, context.signal)
  context.checked(1)
  const tally = new Tally()
  if (byte! >> 4 !== 0) tally.add(1, last)
  tally.report(codes.padding, tensor, context, 'half byte behind the last code is not zero')
}

/** What lies between scale, zero point and codes. */
function paddingOf({ zeroOffset, codesOffset }: RawLayout): Range[] {
  if (zeroOffset === undefined) return [{ start: 4, end: codesOffset }]
  return [
    { start: 4, end: zeroOffset },
    { start: zeroOffset + 4, end: codesOffset },
  ]
}
