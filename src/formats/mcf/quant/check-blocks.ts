// What can be seen in the bytes of quantized tensors. There are no checksums; but scales that are no numbers, bits that must be zero and
// codes that writers leave unused show damage or a careless writer.
import { defaultWindow } from '../../../bytes/index.js'
import { type BlockLayout, blockLayout, blockSize, type Method } from '../../../dtypes/mcf/layout.js'
import { methodOf, type QuantInfo } from '../../../dtypes/mcf/types.js'
import { viewOf } from '../../../dtypes/views.js'
import type { CheckContext, Model, Payload, Tensor } from '../../../model/index.js'
import { codes } from '../codes.js'
import { type ModelInfoContent, modelInfoOf } from '../model-info/filled-info.js'
import { hasIntMark } from '../model-info/int-mark.js'
import { checkInt } from './check-int.js'
import { blockPadding, checkGaps, checkRegions, oddCodeIn } from './check-padding.js'
import { Tally } from './tally.js'
import { findMostNegative } from './unused-codes.js'

export async function check(model: Model, context: CheckContext): Promise<void> {
  await checkGaps(model, context)
  const info = modelInfoOf(model.parts)?.content as ModelInfoContent | undefined
  const isMeant = hasIntMark(info?.extras)
  const seen = new Set<string>()
  for (const tensor of model.tensors) {
    const method = methodOf(tensor.dtype.id)
    const origin = tensor.data?.origin
    if (!method || !tensor.data || !origin) continue
    if (method.family === 'int') await checkInt(tensor, method, tensor.data, isMeant, context)
    const key = `${tensor.dtype.id} ${tensor.shape} ${origin.offset}`
    const layout = blockLayout(method, tensor.shape)
    if (method.family === 'int' || seen.has(key) || layout?.byteLength !== tensor.data.byteLength) continue
    seen.add(key)
    await checkScales(tensor, method, layout, tensor.data, context)
    if (method.family === 'k') await checkSubScales(tensor, layout, tensor.data, context)
    await checkCodes(tensor, method, layout, tensor.data, context)
    await checkRegions(tensor, blockPadding(method, layout), tensor.data, context)
  }
}

async function* windows(
  payload: Payload,
  start: number,
  end: number,
  unit: number,
  context: CheckContext,
): AsyncGenerator<{ readonly at: number; readonly bytes: Uint8Array }, void, void> {
  const step = Math.floor(defaultWindow / unit) * unit
  for (let at = start; at < end; at += step) {
    const bytes = await payload.read!(at, Math.min(step, end - at), context.signal)
    context.checked(bytes.byteLength)
    yield { at, bytes }
  }
}

async function checkScales(
  tensor: Tensor,
  method: Method,
  layout: BlockLayout,
  payload: Payload,
  context: CheckContext,
): Promise<void> {
  const [nan, infinite, subnormal] = [new Tally(), new Tally(), new Tally()]
  const count = method.family === 'q' ? layout.blocks : layout.supers
  for await (const { at, bytes } of windows(payload, 0, 2 * count, 2, context)) {
    const scales = viewOf(Uint16Array, bytes, bytes.byteLength / 2)
    for (let i = 0; i < scales.length; i++) {
      const magnitude = scales[i]! & 0x7fff
      if (magnitude >= 0x400 && magnitude < 0x7c00) continue
      if (magnitude > 0x7c00) nan.add(1, at + 2 * i)
      else if (magnitude === 0x7c00) infinite.add(1, at + 2 * i)
      else if (magnitude > 0) subnormal.add(1, at + 2 * i)
    }
  }
  nan.report(codes['scale-not-finite'], tensor, context, 'scales are NaN')
  if (explainsOverflow(tensor, method)) infinite.report(codes['scale-overflow'], tensor, context, 'scales are infinite')
  else infinite.report(codes['scale-not-finite'], tensor, context, 'scales are infinite')
  subnormal.report(codes['scale-subnormal'], tensor, context, 'scales are subnormal')
}

/** Whether the recorded range needs a scale that f16 does not have: then infinity is the writer's doing and no damage. */
function explainsOverflow(tensor: Tensor, { bits }: Method): boolean {
  const info = tensor.extra?.quantInfo as QuantInfo | undefined
  if (!info) return false
  const largest = Math.max(Math.abs(Number(info.minClip)), Math.abs(Number(info.maxClip)))
  return largest / (2 ** (bits - 1) - 1) > 65504
}

async function checkSubScales(
  tensor: Tensor,
  layout: BlockLayout,
  payload: Payload,
  context: CheckContext,
): Promise<void> {
  const tally = new Tally()
  const { subScalesOffset: start, blocks } = layout
  for await (const { at, bytes } of windows(payload, start, start + blocks, 1, context)) {
    for (let i = 0; i < bytes.length; i++) if (bytes[i]! > 63) tally.add(1, at + i)
  }
  tally.report(codes['sub-scale-bits'], tensor, context, 'sub-scales have their upper bits set')
}

async function checkCodes(
  tensor: Tensor,
  { bits }: Method,
  layout: BlockLayout,
  payload: Payload,
  context: CheckContext,
): Promise<void> {
  const [mostNegative, odd] = [new Tally(), new Tally()]
  const { codesOffset, byteLength, codeSize } = layout
  for await (const { at, bytes } of windows(payload, codesOffset, byteLength, codeSize, context)) {
    const { count, first } = findMostNegative(bytes, bits)
    mostNegative.add(count, at + first)
    for (const start of lastBlocks(layout, (at - codesOffset) / codeSize, bytes.length / codeSize)) {
      const block = bytes.subarray(start * codeSize, (start + 1) * codeSize)
      const found = oddCodeIn(block, layout.columns % blockSize, bits)
      if (found >= 0) odd.add(1, at + start * codeSize + found)
    }
  }
  mostNegative.report(codes['most-negative-code'], tensor, context, `codes are ${-(2 ** (bits - 1))}`)
  odd.report(codes['row-padding'], tensor, context, 'rows have codes that are not zero behind their last column')
}

/** Among `count` blocks from number `first` on, those that end a row and are not full; they count from `first`. */
function* lastBlocks({ columns, blocksPerRow }: BlockLayout, first: number, count: number): Generator<number> {
  if (columns % blockSize === 0) return
  const ahead = blocksPerRow - 1 - (first % blocksPerRow)
  for (let block = ahead; block < count; block += blocksPerRow) yield block
}
