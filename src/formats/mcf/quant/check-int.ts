// int8 and int4: one scale for the whole tensor, perhaps a zero point, then the codes.
import { isBareCodes, type Method, rawLayoutOf } from '../../../dtypes/mcf/layout.js'
import type { CheckContext, Payload, Tensor } from '../../../model/index.js'
import { codes } from '../codes.js'
import { checkRegions, halfByteOf, rawPadding } from './check-padding.js'
import { Tally } from './tally.js'

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
  await checkRegions(tensor, rawPadding(layout), payload, context)
  await checkHalfByte(tensor, halfByteOf(method, layout), payload, context)
}

async function checkHalfByte(
  tensor: Tensor,
  at: number | undefined,
  payload: Payload,
  context: CheckContext,
): Promise<void> {
  if (at === undefined) return
  const [byte] = await payload.read!(at, 1, context.signal)
  context.checked(1)
  const tally = new Tally()
  if (byte! >> 4 !== 0) tally.add(1, at)
  tally.report(codes.padding, tensor, context, 'half byte behind the last code is not zero')
}
