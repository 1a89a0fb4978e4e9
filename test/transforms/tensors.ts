import type { DType } from '../../src/dtypes/index.js'
import { bytesPayload, lazyPayload, type Payload, readPayload, type Tensor } from '../../src/model/index.js'

export function tensorOf(
  dtype: DType,
  shape: readonly number[],
  bytes: Uint8Array,
  rest: Partial<Tensor> = {},
): Tensor {
  return { name: 'w', dtype, shape, order: 'row', role: 'weight', data: bytesPayload(bytes), ...rest }
}

/** A payload that can only be streamed, in pieces of awkward sizes. */
export function streamOnly(bytes: Uint8Array, piece = 7): Payload {
  return lazyPayload(bytes.byteLength, async function* () {
    for (let at = 0; at < bytes.byteLength; at += piece) yield bytes.slice(at, at + piece)
  })
}

/** All bytes of a payload, in one go and in small windows, which must agree. */
export async function bytesOf(payload: Payload, window = 5): Promise<Uint8Array> {
  const whole = await readPayload(payload)
  let at = 0
  for await (const chunk of payload.chunks(window)) {
    const wanted = whole.subarray(at, at + window)
    if (Buffer.compare(chunk, wanted) !== 0) throw new Error(`the window at ${at} differs, or is not ${window} bytes`)
    at += chunk.byteLength
  }
  if (at !== whole.byteLength) throw new Error(`the windows end at ${at} of ${whole.byteLength} bytes`)
  return whole
}

/** Numbers in the bytes of a type. */
export function encoded(dtype: DType, values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(dtype.byteLength([values.length])!)
  const bad = dtype.codec!.fromF64!(Float64Array.from(values), bytes)
  if (bad >= 0) throw new Error(`${values[bad]} is no ${dtype.id}`)
  return bytes
}
