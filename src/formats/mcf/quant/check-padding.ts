// Bytes that fill up: between sections, between the tensors of TensorData, and between the regions of a quantized tensor. Writers leave zeros
// there, and no reader looks at them; anything else was put there by damage or by a writer that forgot something.
import type { ByteSource } from '../../../bytes/index.js'
import { type BlockLayout, type Method, type RawLayout, rawCodeBytes } from '../../../dtypes/mcf/layout.js'
import type { CheckContext, Model, Payload, Tensor } from '../../../model/index.js'
import { codes } from '../codes.js'
import { type Notes, notesOf } from '../notes.js'
import { Tally } from './tally.js'

/** Ranges that lie no farther apart are read together: there can be one behind each of a million tensors. */
const near = 1 << 16
const maxTogether = 1 << 22

/** Bytes of a file or a payload, from `start` up to `end`. */
interface Range {
  readonly start: number
  readonly end: number
}

/** The file outside of sections, and TensorData outside of tensors. */
export async function checkGaps(model: Model, context: CheckContext): Promise<void> {
  const [source] = model.files
  const notes = notesOf(model.parts)
  if (!source || !notes) return
  for (const gap of notes.gaps) {
    const found = await firstOddByte([gap], source, context)
    if (found) complain(found, 'sections', `bytes ${gap.start} to ${gap.end - 1} belong to no section`, context)
  }
  const found = await firstOddByte(gapsIn(notes.data, model.tensors), source, context)
  if (found) complain(found, 'tensor_data.padding', 'it belongs to no tensor', context)
}

function complain({ offset, byte }: OddByte, path: string, what: string, { report }: CheckContext): void {
  report.report(codes.padding, { offset, length: 1, path, message: `a byte is ${byte}, but should be zero: ${what}` })
}

/** What lies between tensors, ascending. */
function* gapsIn(data: Notes['data'], tensors: readonly Tensor[]): Generator<Range> {
  if (!data) return
  const offsets = new Float64Array(tensors.length)
  const lengths = new Float64Array(tensors.length)
  for (const [i, { data: payload }] of tensors.entries()) {
    offsets[i] = payload?.origin?.offset ?? data.start
    lengths[i] = payload?.origin?.length ?? 0
  }
  let reached = data.start
  for (const i of Uint32Array.from(offsets.keys()).sort((a, b) => offsets[a]! - offsets[b]!)) {
    if (offsets[i]! > reached) yield { start: reached, end: offsets[i]! }
    reached = Math.max(reached, offsets[i]! + lengths[i]!)
  }
  if (data.end > reached) yield { start: reached, end: data.end }
}

interface OddByte {
  readonly offset: number
  readonly byte: number
}

async function firstOddByte(
  ranges: Iterable<Range>,
  source: ByteSource,
  { signal }: CheckContext,
): Promise<OddByte | undefined> {
  for (const { start, end, inside } of together(ranges)) {
    const bytes = await source.read(start, end - start, { signal })
    for (const range of inside) {
      const odd = oddByteIn(bytes.subarray(range.start - start, range.end - start))
      if (odd >= 0) return { offset: range.start + odd, byte: bytes[range.start - start + odd]! }
    }
  }
  return undefined
}

const oddByteIn = (bytes: Uint8Array): number => bytes.findIndex((byte) => byte !== 0)

/** Ranges in windows, each of which is read at once; a long range is cut. */
function* together(ranges: Iterable<Range>): Generator<Range & { readonly inside: readonly Range[] }> {
  let inside: Range[] = []
  for (const range of pieces(ranges)) {
    const [first, last] = [inside[0], inside.at(-1)]
    const isFar = last && (range.start - last.end > near || range.end - first!.start > maxTogether)
    if (isFar) {
      yield { start: first!.start, end: last.end, inside }
      inside = []
    }
    inside.push(range)
  }
  if (inside.length > 0) yield { start: inside[0]!.start, end: inside.at(-1)!.end, inside }
}

function* pieces(ranges: Iterable<Range>): Generator<Range> {
  for (const { start, end } of ranges)
    for (let at = start; at < end; at += maxTogether) yield { start: at, end: Math.min(end, at + maxTogether) }
}

/** What lies between the regions of a block-quantized payload. */
export function blockPadding({ family }: Method, layout: BlockLayout): Range[] {
  const { blocks, supers, subScalesOffset, codesOffset } = layout
  const scales = { start: 2 * (family === 'q' ? blocks : supers), end: subScalesOffset }
  return family === 'q' ? [scales] : [scales, { start: subScalesOffset + blocks, end: codesOffset }]
}

export async function checkRegions(
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

/** The same for int8 and int4: scale, zero point and codes. */
export function rawPadding({ zeroOffset, codesOffset }: RawLayout): Range[] {
  if (zeroOffset === undefined) return [{ start: 4, end: codesOffset }]
  return [
    { start: 4, end: zeroOffset },
    { start: zeroOffset + 4, end: codesOffset },
  ]
}

/** An odd number of 4-bit codes leaves half a byte. */
export const halfByteOf = (method: Method, { count, codesOffset }: RawLayout): number | undefined =>
  method.bits === 4 && count % 2 === 1 ? codesOffset + rawCodeBytes(method, count) - 1 : undefined

/** Where in the codes of one block the bits behind `columns` of its 32 are not zero; -1 where they all are. */
export function oddCodeIn(block: Uint8Array, columns: number, bits: number): number {
  const firstBit = columns * bits
  const first = Math.floor(firstBit / 8)
  if (block[first]! >> (firstBit % 8) !== 0) return first
  const odd = oddByteIn(block.subarray(first + 1))
  return odd < 0 ? -1 : first + 1 + odd
}
