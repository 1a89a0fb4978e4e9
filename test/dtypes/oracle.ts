// Slow and plain: what each float type should do, from its definition alone. Shares no code with the codecs.

export interface FloatFormat {
  readonly id: string
  readonly bits: number
  readonly mantissaBits: number
  readonly bias: number
  readonly infinity?: boolean
  /** Magnitude codes (without the sign) that are NaN. */
  readonly nan?: (magnitude: number) => boolean
  readonly minusZeroIsNaN?: boolean
  readonly overflow: 'infinity' | 'nan' | 'saturate'
}

export const formats: readonly FloatFormat[] = [
  { id: 'f16', bits: 16, mantissaBits: 10, bias: 15, infinity: true, nan: (m) => m > 0x7c00, overflow: 'infinity' },
  { id: 'bf16', bits: 16, mantissaBits: 7, bias: 127, infinity: true, nan: (m) => m > 0x7f80, overflow: 'infinity' },
  { id: 'f8_e5m2', bits: 8, mantissaBits: 2, bias: 15, infinity: true, nan: (m) => m > 0x7c, overflow: 'infinity' },
  { id: 'f8_e4m3', bits: 8, mantissaBits: 3, bias: 7, nan: (m) => m === 0x7f, overflow: 'nan' },
  { id: 'f8_e4m3fnuz', bits: 8, mantissaBits: 3, bias: 8, minusZeroIsNaN: true, overflow: 'nan' },
  { id: 'f8_e5m2fnuz', bits: 8, mantissaBits: 2, bias: 16, minusZeroIsNaN: true, overflow: 'nan' },
  { id: 'f6_e2m3', bits: 6, mantissaBits: 3, bias: 1, overflow: 'saturate' },
  { id: 'f6_e3m2', bits: 6, mantissaBits: 2, bias: 3, overflow: 'saturate' },
  { id: 'f4_e2m1', bits: 4, mantissaBits: 1, bias: 1, overflow: 'saturate' },
]

export function codeValue(code: number, format: FloatFormat): number {
  const half = 2 ** (format.bits - 1)
  const [sign, magnitude] = code >= half ? [-1, code - half] : [1, code]
  if (format.minusZeroIsNaN && sign < 0 && magnitude === 0) return Number.NaN
  if (format.nan?.(magnitude)) return Number.NaN
  return sign * magnitudeValue(magnitude, format)
}

/** Beyond the last finite code this counts on, which is what rounding up to "the next value" means. */
function magnitudeValue(magnitude: number, { mantissaBits, bias, infinity, bits }: FloatFormat): number {
  const step = 2 ** mantissaBits
  const exponent = Math.floor(magnitude / step)
  const mantissa = magnitude % step
  if (infinity && exponent === 2 ** (bits - 1 - mantissaBits) - 1 && mantissa === 0) return Number.POSITIVE_INFINITY
  return exponent === 0 ? mantissa * 2 ** (1 - bias - mantissaBits) : (1 + mantissa / step) * 2 ** (exponent - bias)
}

const largest = new Map<string, number>()

export function largestFinite(format: FloatFormat): number {
  const known = largest.get(format.id)
  if (known !== undefined) return known
  let code = 2 ** (format.bits - 1) - 1
  while (!Number.isFinite(codeValue(code, format))) code--
  largest.set(format.id, code)
  return code
}

/** The code that a value rounds to: 'nan' for any NaN, undefined where the type must refuse. */
export function codeOf(value: number, format: FloatFormat): number | 'nan' | undefined {
  if (Number.isNaN(value)) return format.overflow === 'saturate' ? undefined : 'nan'
  const sign = value < 0 || Object.is(value, -0) ? 2 ** (format.bits - 1) : 0
  const target = Math.abs(value)
  const last = largestFinite(format)
  let low = 0
  let high = last
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (magnitudeValue(middle, format) <= target) low = middle
    else high = middle - 1
  }
  const below = magnitudeValue(low, format)
  const above = low === last ? 2 * below - magnitudeValue(low - 1, format) : magnitudeValue(low + 1, format)
  const middle = below / 2 + above / 2
  const up = target > middle || (target === middle && low % 2 === 1)
  const code = up ? low + 1 : low
  if (code > last) {
    if (format.overflow === 'saturate') return sign + last
    return format.overflow === 'infinity' ? sign + last + 1 : 'nan'
  }
  return code === 0 && format.minusZeroIsNaN ? 0 : sign + code
}

/** The f32 nearest to an integer, ties to even, found among the neighbours by exact arithmetic. */
export function nearestF32(value: bigint): number {
  const guess = new Float32Array([Number(value)])
  const bits = new Uint32Array(guess.buffer)
  const candidates = [-1, 0, 1].map((by) => {
    const pattern = Uint32Array.of((bits[0]! + by) >>> 0)
    return { even: pattern[0]! % 2 === 0, number: new Float32Array(pattern.buffer)[0]! }
  })
  let best: { even: boolean; number: number; distance: bigint } | undefined
  for (const { even, number } of candidates) {
    if (!Number.isInteger(number)) continue
    const distance = BigInt(number) > value ? BigInt(number) - value : value - BigInt(number)
    if (!best || distance < best.distance || (distance === best.distance && even)) best = { even, number, distance }
  }
  return best!.number
}
