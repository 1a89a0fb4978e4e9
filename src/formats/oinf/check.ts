// What can be said about values without checksums: booleans are 0 or 1, ternary elements have three codes, and bits and bytes that belong
// to nothing are 0. Other data are not read.
import { checkAborted, defaultWindow } from '../../bytes/index.js'
import { verifyCodes } from '../../errors/index.js'
import type { CheckContext, Model, Payload, Tensor } from '../../model/index.js'
import { codes } from './codes.js'
import { checkZero, type FreeRange, type FreeRanges } from './free-space.js'
import { isPacked, tailMask } from './types.js'

export async function check(model: Model, free: FreeRanges, context: CheckContext): Promise<void> {
  await checkFree(model, free, context)
  let budget = model.files[0]?.size ?? 0
  for (const [i, tensor] of model.tensors.entries()) {
    const { data } = tensor
    if (!data?.origin || data.byteLength === 0) continue
    if (tensor.dtype.kind === 'bool' || tensor.dtype.id === 't2') {
      // Tensors that share bytes are few in an honest file; thousands over the same bytes would take for ever.
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

/** Ranges that are this near to each other are read together. */
const together = 65_536

async function checkFree(model: Model, free: FreeRanges, context: CheckContext): Promise<void> {
  const source = model.files[0]!
  for (let first = 0; first < free.length; ) {
    checkAborted(context.signal, source.name)
    const { offset, length } = free.at(first)
    if (length > together) {
      await checkLong(model, free.at(first), context)
      first++
      continue
    }
    let next = first
    let end = offset
    for (; next < free.length; next++) {
      const range = free.at(next)
      if (range.offset + range.length > offset + together) break
      end = range.offset + range.length
    }
    const bytes = await source.read(offset, end - offset, { signal: context.signal })
    for (; first < next; first++) {
      const range = free.at(first)
      const start = range.offset - offset
      checkZero(bytes.subarray(start, start + range.length), range.kind, range.offset, context)
    }
  }
}

async function checkLong(model: Model, { kind, offset, length }: FreeRange, context: CheckContext): Promise<void> {
  for (let at = 0; at < length; at += defaultWindow) {
    const size = Math.min(defaultWindow, length - at)
    const bytes = await model.files[0]!.read(offset + at, size, { signal: context.signal })
    if (!checkZero(bytes, kind, offset + at, context)) return
  }
}
