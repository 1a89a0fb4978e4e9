// Block-quantized payloads: scales that are no numbers, bits that must be zero and codes that writers leave unused show damage or a careless
// writer.
import { defaultWindow, type Range } from '../../../bytes/index.js'
import { viewOf } from '../../../bytes/views.js'
import { type BlockLayout, blockSize, type Method } from '../../../dtypes/mcf/layout.js'
import type { CheckContext, Payload, Tensor } from '../../../model/index.js'
import { codes } from '../codes.js'
import { explainsOverflow } from './overflow.js'
import { checkPadding, oddByteIn, Tally } from './regions.js'
import { findMostNegative } from './unused-codes.js'

export async function checkBlocks(
  tensor: Tensor,
  method: Method,
  layout: BlockLayout,
  payload: Payload,
  context: CheckContext,
): Promise<void> {
  await checkScales(tensor, method, layout, payload, context)
  if (method.family === 'k') await checkSubScales(tensor, layout, payload, context)
  await checkCodes(tensor, method, layout, payload, context)
  await checkPadding(tensor, paddingOf(method, layout), payload, context)
}

/** What lies between the regions. */
function paddingOf({ family }: Method, { blocks, supers, subScalesOffset, codesOffset }: BlockLayout): Range[] {
  const scales = { start: 2 * (family === 'q' ? blocks : supers), end: subScalesOffset }
  return family === 'q' ? [scales] : [scales, { start: subScalesOffset + blocks, end: codesOffset }]
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

/** Where in the codes of one block the bits behind `columns` of its 32 are not zero; -1 where they all are. */
function oddCodeIn(block: Uint8Array, columns: number, bits: number): number {
  const firstBit = columns * bits
  const first = Math.floor(firstBit / 8)
  if (block[first]! >> (firstBit % 8) !== 0) return first
  const odd = oddByteIn(block.subarray(first + 1))
  return odd < 0 ? -1 : first + 1 + odd
}
