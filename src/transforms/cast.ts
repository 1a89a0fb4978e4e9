// Converts values to another element type. Each pair of types uses a conversion that rounds at most once and preserves as much of a value
// as possible.
import { alignUp, releaseWindow, takeWindow } from '../bytes/index.js'
import { fillView, type ViewType, viewOf } from '../bytes/views.js'
import { bf16, type DType, f16, f32, f64, i64, isReal, u64 } from '../dtypes/index.js'
import { stickyDecoder } from '../dtypes/integers.js'
import { viaOddF32 } from '../dtypes/via-f32.js'
import { failWith, usageCodes, writeCodes } from '../errors/index.js'
import { bf16ToF16 } from '../kernels/numbers/convert.js'
import { narrowNaNs } from '../kernels/numbers/float-bits.js'
import type { Payload, Recipe, Tensor } from '../model/index.js'
import { tensorRecipe } from '../model/model.js'
import { decodedPayload } from './decode.js'
import { bytesFor, type ElementMap, fileOf, mapElements } from './map-elements.js'

/** Whether `to` can represent every value of `from`, including NaN payloads, infinities and minus zero. */
export function castLoss(from: DType, to: DType): 'none' | 'precision' {
  if (from.id === to.id) return 'none'
  if (from.part && to.part) return castLoss(from.part, to.part)
  // Blocks decode to f32 by definition.
  if (from.kind === 'block') return to === f32 || to === f64 ? 'none' : 'precision'
  const [a, b] = [from.values, to.values]
  if (!a || !b) return 'precision'
  const inRange = a.lowest >= b.lowest && a.highest <= b.highest && a.step >= b.step && a.precision <= b.precision
  const special = (!a.nan || b.nan) && (!a.infinity || b.infinity) && (!a.negativeZero || b.negativeZero)
  return inRange && special && (a.zero === false || b.zero !== false) ? 'none' : 'precision'
}

export interface CastOptions {
  /** Scales of blocks that are too large become infinite, as in ggml's own programs. */
  readonly overflow?: boolean | undefined
}

/** The tensor with its values as `to`. A value that does not fit fails the read of its payload with write/value-range. */
export function castTensor(tensor: Tensor, to: DType, options: CastOptions = {}): Tensor {
  const from = tensor.encoding ?? tensor.dtype
  // A new field after a spread would make the object three times as large.
  const changed: Tensor = tensor.encoding ? { ...tensor, dtype: to, encoding: undefined } : { ...tensor, dtype: to }
  if (from.id === to.id) return changed
  const decoded = from.regions && (tensor.data ? decodedPayload(tensor, 'f32') : null)
  if (decoded !== undefined) return castTensor({ ...changed, dtype: f32, data: decoded }, to, options)
  const kind = castKind(from, to, options)
  if (!kind) {
    const why = tensor.data && from.regions?.refusal(tensor.shape, tensor.data.byteLength)
    const message = `${from.id} cannot be converted to ${to.id}${why ? `: ${why}` : ''}`
    failWith(usageCodes['no-codec'], { file: fileOf(tensor.data), path: tensor.name, message })
  }
  return { ...changed, data: tensor.data && mapElements(new Cast(tensor, kind)) }
}

/** What a cast does, whatever the tensor. */
interface CastKind {
  readonly from: DType
  readonly to: DType
  readonly convert: Convert
  readonly overflow: boolean
}

/** A class with two fields, since a model can have a million of these. */
class Cast implements ElementMap {
  readonly #tensor: Tensor
  readonly #kind: CastKind

  constructor(tensor: Tensor, kind: CastKind) {
    this.#tensor = tensor
    this.#kind = kind
  }

  get input(): Payload {
    return this.#tensor.data!
  }

  get shape(): readonly number[] {
    return this.#tensor.shape
  }

  get from(): DType['group'] {
    return this.#kind.from.group
  }

  get to(): DType['group'] {
    return this.#kind.to.group
  }

  convert(source: Uint8Array, target: Uint8Array, first: number, count: number): void {
    const { from, to, convert } = this.#kind
    const bad = convert(source, target, count)
    if (bad < 0) return
    const value = from.codec!.element(source, bad)
    const { origin } = this.input
    failWith(writeCodes['value-range'], {
      file: fileOf(this.input),
      path: this.#tensor.name,
      ...(origin && { offset: origin.offset + bytesFor(first + bad, from.group) }),
      message: `element ${first + bad} is ${String(value)}, which ${to.id} cannot hold`,
    })
  }

  recipe(): Recipe | undefined {
    const made = tensorRecipe(this.#tensor)
    const { to, overflow } = this.#kind
    return made && { kind: 'cast', tensor: made, to: to.id, overflow }
  }
}

/** Returns the index of the first value that does not fit, or -1. */
type Convert = (source: Uint8Array, target: Uint8Array, count: number) => number

function castKind(from: DType, to: DType, { overflow = false }: CastOptions = {}): CastKind | undefined {
  const known = kinds[Number(overflow)]!
  const ofType = known.get(from) ?? new Map<DType, CastKind | undefined>()
  known.set(from, ofType)
  if (!ofType.has(to)) {
    const convert = newConverter(from, to, { overflow })
    ofType.set(to, convert && { from, to, convert, overflow })
  }
  return ofType.get(to)
}

/** Without and with overflow. One serves all tensors of a type. */
const kinds = [0, 1].map(() => new WeakMap<DType, Map<DType, CastKind | undefined>>())

function newConverter(from: DType, to: DType, options: CastOptions): Convert | undefined {
  if (from.part && to.part) return pairwise(castKind(from.part, to.part)?.convert)
  const [decoder, encoder] = [from.codec, to.codec]
  if (!decoder || !encoder || !isReal(from) || !isReal(to)) return undefined
  if (isWide(from) && isWide(to)) return otherSignedness
  if (from === bf16 && to === f16) return shortened
  const { fromF64 } = encoder
  const fromF32 = (options.overflow && encoder.fromF32Overflowing) || encoder.fromF32
  const toF32 = decoder.toF32Bits ?? decoder.toF32
  if (to === f32) return writing(Float32Array, toF32)
  if (to === f64 && !decoder.toF32Bits) return writing(Float64Array, decoder.toF64)
  if (from === f32 && fromF32) return reading(Float32Array, fromF32)
  if (from === f64 && fromF32 && to.kind === 'float')
    return reading(Float64Array, viaOddF32(fromF32, to.group, narrowNaNs))
  if (from === f64 && fromF64) return reading(Float64Array, fromF64)
  const isF32 = from.kind === 'block' || castLoss(from, f32) === 'none'
  if (isF32 && fromF32) return inRuns(Float32Array, toF32, fromF32, from.group, to.group)
  const toF64 = (to.kind === 'float' && stickyDecoder(from)) || decoder.toF64
  return fromF64 && inRuns(Float64Array, toF64, fromF64, from.group, to.group)
}

/** f32 and f64 take the decoder's output as it is. */
function writing<T extends Float32Array | Float64Array>(
  type: ViewType<T>,
  decode: (source: Uint8Array, target: T) => void,
): Convert {
  return (source, target, count) => {
    fillView(type, target, count, (view) => decode(source, view))
    return -1
  }
}

/** Encoders take f32 and f64 as they are. */
function reading<T extends Float32Array | Float64Array>(
  type: ViewType<T>,
  encode: (source: T, target: Uint8Array) => number,
): Convert {
  return (source, target, count) => encode(viewOf(type, source, count), target)
}

function shortened(source: Uint8Array, target: Uint8Array, count: number): number {
  bf16ToF16(source, target, count)
  return -1
}

const isWide = (dtype: DType): boolean => dtype === i64 || dtype === u64

/** i64 to u64 or back: the same bits, as long as the top one is clear. */
function otherSignedness(source: Uint8Array, target: Uint8Array, count: number): number {
  for (let i = 0; i < count; i++) if (source[8 * i + 7]! >= 0x80) return i
  target.set(source.subarray(0, count * 8))
  return -1
}

function pairwise(convert: Convert | undefined): Convert | undefined {
  if (!convert) return undefined
  return (source, target, count) => Math.floor(convert(source, target, count * 2) / 2)
}

/** Decodes and encodes in runs, so that intermediate values stay in the cache, and in a window, where compiled kernels reach them. */
function inRuns<T extends Float32Array | Float64Array>(
  type: ViewType<T>,
  decode: (source: Uint8Array, target: T) => void,
  encode: (source: T, target: Uint8Array) => number,
  from: DType['group'],
  to: DType['group'],
): Convert {
  const length = alignUp(4096, from.elements * to.elements)
  return (source, target, count) => {
    const window = takeWindow(length * type.BYTES_PER_ELEMENT)
    const run = new type(window.buffer, window.byteOffset, Math.min(length, count))
    try {
      for (let at = 0; at < count; at += length) {
        const values = run.subarray(0, Math.min(length, count - at)) as T
        decode(source.subarray(bytesFor(at, from)), values)
        const bad = encode(values, target.subarray(bytesFor(at, to)))
        if (bad >= 0) return at + bad
      }
      return -1
    } finally {
      releaseWindow(window)
    }
  }
}
