// What can be said about values without checksums: booleans are 0 or 1, ternary elements have three codes, and bits and bytes that belong
// to nothing are 0. Other data are not read.
import { type ByteSource, batches, checkAborted, defaultWindow, pieces } from '../../bytes/index.js'
import { verifyCodes } from '../../errors/index.js'
import type { CheckContext, Model, Payload, Tensor } from '../../model/index.js'
import { codes } from './codes.js'
import { checkZero, type FreeRange } from './free-space.js'
import { isPacked, tailMask } from './types.js'

export async function check(model: Model, free: readonly FreeRange[], context: CheckContext): Promise<void> {
  const source = model.files[0]!
  await checkFree(source, free, context)
  let budget = source.size
  for (const [i, tensor] of model.tensors.entries()) {
    const { data } = tensor
    if (!data?.origin || data.byteLength === 0) continue
    if (tensor.dtype.kind === 'bool' || tensor.dtype.id === 't2') {
      // Few tensors of an honest file share bytes; checking thousands over the same bytes would take for ever.
      if (data.byteLength > budget) {
        const message = 'values of tensors that share bytes were not all looked at'
        const { offset } = data.origin
        context.report.report(verifyCodes['not-checked'], { offset, path: `tensors[${i}].data`, message })
        return
      }
      budget -= data.byteLength
      await checkValues(tensor, data, `tensors[${i}].data`, context)
    } else if (isPacked(tensor.dtype)) await checkTail(tensor, data, `tensors[${i}].data`, context)
  }
}

async function checkValues(tensor: Tensor, data: Payload, path: string, context: CheckContext): Promise<void> {
  const isBool = tensor.dtype.kind === 'bool'
  const base = data.origin!.offset
  let at = 0
  for await (const chunk of data.chunks(defaultWindow, context.signal)) {
    context.checked(chunk.byteLength)
    const odd = isBool ? findOddBool(chunk) : findFourthCode(chunk)
    if (odd >= 0) {
      const place = { offset: base + at + odd, length: 1, path }
      if (isBool) {
        const message = `element ${at + odd} is ${chunk[odd]}, neither 0 nor 1`
        context.report.report(verifyCodes['bool-value'], { ...place, message })
      } else if (!isTail(tensor, at + odd, data.byteLength, chunk[odd]!)) {
        const message = `byte ${at + odd} of the tensor has the fourth code, which reads as -2`
        context.report.report(codes['tensor-t2'], { ...place, message })
      }
      break
    }
    at += chunk.byteLength
  }
  if (!isBool) await checkTail(tensor, data, path, context)
}

function findOddBool(bytes: Uint8Array): number {
  for (let i = 0; i < bytes.length; i++) if (bytes[i]! > 1) return i
  return -1
}

/** Bytes in which one of the four two-bit codes is binary 10. */
const hasFourthCode = Uint8Array.from({ length: 256 }, (_, byte) =>
  [0, 2, 4, 6].some((shift) => ((byte >> shift) & 3) === 2) ? 1 : 0,
)

function findFourthCode(bytes: Uint8Array): number {
  for (let i = 0; i < bytes.length; i++) if (hasFourthCode[bytes[i]!] === 1) return i
  return -1
}

/** Whether the fourth code of the last byte lies beyond the last element. */
function isTail(tensor: Tensor, at: number, size: number, byte: number): boolean {
  const mask = tailMask(tensor.dtype, countOf(tensor))
  return at === size - 1 && hasFourthCode[byte - (byte & mask)] === 0
}

const countOf = (tensor: Tensor): number => tensor.shape.reduce((count, dim) => count * dim, 1)

async function checkTail(tensor: Tensor, data: Payload, path: string, context: CheckContext): Promise<void> {
  const mask = tailMask(tensor.dtype, countOf(tensor))
  if (mask === 0) return
  const [byte] = await data.read!(data.byteLength - 1, 1, context.signal)
  if ((byte! & mask) === 0) return
  const offset = data.origin!.offset + data.byteLength - 1
  const message = `the last byte is 0x${byte!.toString(16)}; its bits beyond the last element should be 0`
  context.report.report(codes['tensor-tail'], { offset, length: 1, path, message })
}

/** Ranges no farther apart than this are read at once: there can be one behind each tensor. */
const near = 65_536

async function checkFree(source: ByteSource, free: readonly FreeRange[], context: CheckContext): Promise<void> {
  for (const batch of batches(free, near, defaultWindow)) {
    checkAborted(context.signal, source.name)
    if (batch.end - batch.start > defaultWindow) {
      for (const range of batch.ranges) await checkLong(source, range, context)
      continue
    }
    const bytes = await source.read(batch.start, batch.end - batch.start, { signal: context.signal })
    for (const { kind, start, end } of batch.ranges)
      checkZero(bytes.subarray(start - batch.start, end - batch.start), kind, start, context)
  }
}

async function checkLong(source: ByteSource, range: FreeRange, context: CheckContext): Promise<void> {
  for (const { kind, start, end } of pieces([range], defaultWindow)) {
    const bytes = await source.read(start, end - start, { signal: context.signal })
    if (!checkZero(bytes, kind, start, context)) return
  }
}
