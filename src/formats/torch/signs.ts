// Tensors that are the negative or the conjugate of what their storage holds. PyTorch only notes that down; here signs are flipped while
// the elements are read.
import { type DType, f32, f64 } from '../../dtypes/index.js'
import { lazyPayload, type Payload } from '../../model/index.js'

export interface SignFlags {
  readonly conjugate: boolean
  readonly negative: boolean
}

/** Undefined when the type has no sign to flip. Elements are little-endian. */
export function withSigns(payload: Payload, dtype: DType, { conjugate, negative }: SignFlags): Payload | undefined {
  const isComplex = dtype.kind === 'complex'
  const flipsReal = negative
  const flipsImaginary = isComplex && negative !== conjugate
  if (!flipsReal && !flipsImaginary) return payload
  if (!isComplex && dtype !== f32 && dtype !== f64 && dtype.id !== 'f16' && dtype.id !== 'bf16') return undefined
  const { bytes } = dtype.group
  const part = isComplex ? bytes / 2 : bytes
  async function* produce(signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    for await (const chunk of payload.chunks(bytes * 65_536, signal)) {
      const flipped = chunk.slice()
      for (let at = part - 1; at < flipped.byteLength; at += bytes) {
        if (flipsReal) flipped[at] = flipped[at]! ^ 0x80
        if (flipsImaginary) flipped[at + part] = flipped[at + part]! ^ 0x80
      }
      yield flipped
    }
  }
  return lazyPayload(payload.byteLength, produce)
}
