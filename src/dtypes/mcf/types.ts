// The quantized types of MCF. Bits per weight, without the padding between regions: q8 8.5, q4 4.5, k6 6.3125, k4 4.3125, k3 3.3125,
// k2 2.3125.
import { blockValues, type CodeBits, superBlocks } from '../../kernels/mcf/tile.js'
import type { DType, RegionCodec } from '../dtype.js'
import { decodeBlockRange, decodeRawRange } from './decode.js'
import { blockLayout, type Domain, type Family, isBareCodes, type Method, rawLayout, rawLayoutOf } from './layout.js'

const method = <Name extends string>(
  name: Name,
  code: number,
  family: Family,
  bits: CodeBits,
): Method<`mcf.${Name}`> => ({
  id: `mcf.${name}`,
  code,
  family,
  bits,
})

/** In the order of their codes. */
export const methods = [
  method('int8', 0x10, 'int', 8),
  method('int4', 0x11, 'int', 4),
  method('q8', 0x20, 'q', 8),
  method('q4', 0x21, 'q', 4),
  method('k6', 0x30, 'k', 6),
  method('k4', 0x31, 'k', 4),
  method('k3', 0x32, 'k', 3),
  method('k2', 0x33, 'k', 2),
] as const

const byId: ReadonlyMap<string, Method> = new Map(methods.map((each) => [each.id, each]))

/** The method behind a dtype's id; undefined for types that are not MCF's own. */
export const methodOf = (dtypeId: string): Method | undefined => byId.get(dtypeId)

/**
 * What a container says about a quantized tensor beside its bytes. It stands in `Tensor.extra` under `quantInfo`; numbers that JSON does
 * not have (NaN, infinities) are written as text. Decoding never needs it.
 */
export type QuantInfo = {
  readonly domain: Domain
  /** The range that values were cut to before they were quantized. */
  readonly minClip: number | string
  readonly maxClip: number | string
}

function mcfType<Id extends string>(each: Method<Id>): DType<Id> {
  const isRaw = each.family === 'int'
  return {
    id: each.id,
    kind: 'block',
    group: groupOf(each),
    // An int* tensor with a zero point is 64 bytes longer; `regions` knows both layouts.
    byteLength: (shape) => (isRaw ? rawLayout(each, shape, 'weights') : blockLayout(each, shape))?.byteLength,
    regions: isRaw ? rawCodec(each) : blockCodec(each),
  }
}

/** The density of the type. The bytes of a group are not contiguous. */
function groupOf({ family, bits }: Method): DType['group'] {
  if (family === 'int') return { elements: 8 / bits, bytes: 1 }
  if (family === 'q') return { elements: blockValues, bytes: 2 + 4 * bits }
  return { elements: blockValues * superBlocks, bytes: 2 + superBlocks * (1 + 4 * bits) }
}

function blockCodec(each: Method): RegionCodec {
  return {
    refusal(shape, byteLength) {
      const layout = blockLayout(each, shape)
      if (!layout) return `[${shape.join(', ')}] is not a shape for ${each.id}, which takes matrices only`
      return layout.byteLength === byteLength ? undefined : sizeRefusal(each, shape, byteLength, `${layout.byteLength}`)
    },
    isKnownSize: (shape, byteLength) => blockLayout(each, shape)?.byteLength === byteLength,
    decode: (payload, shape, first, target, signal) =>
      decodeBlockRange(each, blockLayout(each, shape)!, payload, first, target, signal),
  }
}

function rawCodec(each: Method): RegionCodec {
  return {
    refusal(shape, byteLength) {
      if (rawLayoutOf(each, shape, byteLength)) return undefined
      if (isBareCodes(each, shape, byteLength)) return 'these are bare codes; the scale that they need is lost'
      const sizes = (['weights', 'activations'] as const).map((domain) => rawLayout(each, shape, domain)?.byteLength)
      return sizeRefusal(each, shape, byteLength, `${sizes[0]} or, with a zero point, ${sizes[1]}`)
    },
    isKnownSize: (shape, byteLength) =>
      rawLayoutOf(each, shape, byteLength) !== undefined || isBareCodes(each, shape, byteLength),
    decode: (payload, shape, first, target, signal) =>
      decodeRawRange(each, rawLayoutOf(each, shape, payload.byteLength)!, payload, first, target, signal),
  }
}

const sizeRefusal = (each: Method, shape: readonly number[], byteLength: number, wanted: string): string =>
  `${byteLength} bytes are stored, but shape [${shape.join(', ')}] of ${each.id} takes ${wanted}`

export const mcfTypes: readonly DType<(typeof methods)[number]['id']>[] = methods.map((each) => mcfType(each))
