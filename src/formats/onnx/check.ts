// What only reading the values can show: how many a list of varints has and whether they fit their type, booleans that are neither 0
// nor 1, bits behind the last element, positions in sparse tensors. ONNX has no checksums of its own.
import { defaultWindow } from '../../bytes/index.js'
import { type Code, type Finding, TareError, verifyCodes } from '../../errors/index.js'
import type { CheckContext, Tensor } from '../../model/index.js'
import { codes, ownCodes } from './codes.js'
import type { Found, Positions } from './graph/found.js'
import { decodeTyped, newDecoder, pathOf, type TypedValues } from './tensors/typed-values.js'

type Checked = Pick<Found, 'tensors' | 'unread' | 'positions'>

export async function check({ tensors, unread, positions }: Checked, context: CheckContext): Promise<void> {
  for (const values of unread) {
    await guarded(
      () => checkValues(values, context),
      (code, finding) => context.report.report(code, finding),
    )
  }
  // Lists that cannot be decoded were reported above.
  for (const tensor of tensors) {
    if (tensor.dtype.id === 'bool' && tensor.data?.origin) await checkBooleans(tensor, context)
    else if (tensor.dtype.group.elements > 1) await guarded(() => checkFill(tensor, context))
  }
  for (const each of positions) await guarded(() => checkPositions(each, context))
}

const byName: ReadonlyMap<string, Code> = new Map(Object.entries(codes))

/** Damage in one tensor is a finding, and does not end the check of the others. */
async function guarded(work: () => Promise<void>, tell?: (code: Code, finding: Finding) => void): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    const code = byName.get(error.code)
    if (!code) throw error
    tell?.(code, error.finding)
  }
}

async function checkValues(values: TypedValues, { report, signal }: CheckContext): Promise<void> {
  const decoder = newDecoder(values.type)
  for await (const _ of decodeTyped(values, decoder, signal)) {
    // The decoder counts and compares; the bytes are not needed.
  }
  if (decoder.outOfRange === undefined) return
  const { position, value } = decoder.outOfRange
  const [min, max] = values.type.bounds!
  const what = `${value} at position ${position} does not fit ${values.type.dtype.id}`
  const message = `${what}, which has ${min} to ${max} here; its low bits are taken`
  const offset = values.pieces[0]?.start ?? 0
  report.report(ownCodes['value-range'], { offset, path: pathOf(values.path, values.type), message })
}

async function checkBooleans({ name, data }: Tensor, context: CheckContext): Promise<void> {
  let at = 0
  for await (const chunk of data!.chunks(defaultWindow, context.signal)) {
    const odd = chunk.findIndex((byte) => byte > 1)
    context.checked(chunk.byteLength)
    if (odd >= 0) {
      const { source, offset } = data!.origin!
      const message = `byte ${at + odd} of the tensor is ${chunk[odd]}, neither 0 nor 1`
      const path = `data[${JSON.stringify(name)}]`
      const place = { file: source.name, offset: offset + at + odd, length: 1, path }
      context.report.report(verifyCodes['bool-value'], { ...place, message })
      return
    }
    at += chunk.byteLength
  }
}

/** Elements of fewer than eight bits seldom fill the last byte. */
async function checkFill({ name, data, dtype, shape }: Tensor, { report, signal }: CheckContext): Promise<void> {
  const { elements, bytes } = dtype.group
  const bits = (bytes * 8) / elements
  const used = (shape.reduce((product, dim) => product * dim, 1) * bits) % 8
  if (used === 0 || !data) return
  let last = 0
  if (data.read) last = (await data.read(data.byteLength - 1, 1, signal))[0]!
  else for await (const chunk of data.chunks(defaultWindow, signal)) last = chunk.at(-1)!
  if (last < 2 ** used) return
  const message = `${8 - used} bits behind the last element are not zero`
  const file = data.origin && { file: data.origin.source.name }
  const offset = data.origin ? data.origin.offset + data.byteLength - 1 : 0
  report.report(ownCodes['fill-bits'], { ...file, offset, path: `data[${JSON.stringify(name)}]`, message })
}

/** Every coordinate must lie inside the whole tensor, and each position behind the one before it. */
async function checkPositions(positions: Positions, { report, signal }: CheckContext): Promise<void> {
  const { payload, shape, isFlat, offset, path } = positions
  const limits = isFlat ? [shape.reduce((product, dim) => product * dim, 1)] : shape
  let at = 0
  let flat = 0
  let last = -1
  for await (const chunk of payload.chunks(defaultWindow, signal)) {
    const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    for (let i = 0; i + 8 <= chunk.byteLength; i += 8, at++) {
      const position = view.getBigInt64(i, true)
      const axis = at % limits.length
      const limit = limits[axis]!
      if (position < 0n || position >= limit) {
        const message = `position ${at} is ${position}, allowed are 0 to ${limit - 1}`
        return report.report(ownCodes['sparse-index'], { offset, path, message })
      }
      flat = (axis === 0 ? 0 : flat * limit) + Number(position)
      if (axis < limits.length - 1) continue
      if (flat <= last) {
        const message = `value ${Math.floor(at / limits.length)} does not come after the one before it`
        return report.report(ownCodes['sparse-order'], { offset, path, message })
      }
      last = flat
    }
  }
}
