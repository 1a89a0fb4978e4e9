// The quantization payload of version 2. The format's guide never says what the numbers mean; tare takes real = scale · (q − zero point).
import { Cursor } from '../../bytes/index.js'
import type { Report } from '../../errors/index.js'
import type { QuantParams, ReadContext, Tensor } from '../../model/index.js'
import { codes, type OinfCode } from './codes.js'
import { aligned, quantHeader } from './structs.js'

const perTensor = 1
const perChannel = 2

interface Place {
  readonly offset: number
  readonly path: string
}

/** The parameters, or undefined after what is wrong was reported. */
export function readQuant(
  bytes: Uint8Array,
  shape: readonly number[],
  place: Place,
  report: Report,
  extents?: ReadContext['extents'],
): QuantParams | undefined {
  const complain = (code: OinfCode, at: number, field: string, message: string): undefined =>
    void report.report(codes[code], {
      offset: place.offset + at,
      path: `${place.path}${field && `.${field}`}`,
      message,
    })
  if (bytes.byteLength < quantHeader.size)
    return complain('quant-size', 0, '', `${bytes.byteLength} bytes, the smallest payload has ${quantHeader.size}`)
  const cursor = new Cursor(bytes, report, { base: place.offset, extents, path: [place.path] })
  const head = quantHeader.read(cursor)
  const at = (field: keyof typeof head & string): number => quantHeader.offsetOf(field)
  const { scheme, scaleMode, zpMode } = head
  if (scheme !== 1 && scheme !== 2) return complain('quant-scheme', 0, 'scheme', `there is no scheme ${scheme}`)
  if (scaleMode !== perTensor && scaleMode !== perChannel)
    return complain('quant-scale-mode', at('scaleMode'), 'scale_mode', `there is no mode ${scaleMode}`)
  if (zpMode > perChannel) return complain('quant-zero-mode', at('zpMode'), 'zp_mode', `there is no mode ${zpMode}`)
  if (head.reserved !== 0)
    return complain('quant-reserved', at('reserved'), 'reserved', `0 was expected, ${head.reserved} found`)

  const axisLimit = scaleMode === perTensor ? 1n : BigInt(shape.length)
  if (head.scaleAxis >= axisLimit) {
    const message =
      scaleMode === perTensor ? `axis ${head.scaleAxis} where 0 belongs` : `there is no axis ${head.scaleAxis}`
    return complain('quant-scale-axis', at('scaleAxis'), 'scale_axis', message)
  }
  const axis = scaleMode === perChannel ? Number(head.scaleAxis) : undefined
  const count = axis === undefined ? 1 : shape[axis]!
  if (head.scaleCount !== BigInt(count))
    return complain('quant-scale-count', at('scaleCount'), 'scale_count', `${head.scaleCount}, but ${count} are needed`)
  if (zpMode !== 0 && scheme === 1)
    return complain('quant-symmetric', at('zpMode'), 'zp_mode', 'symmetric quantization has no zero points')
  if (zpMode !== 0 && zpMode !== scaleMode)
    return complain('quant-zero-mismatch', at('zpMode'), 'zp_mode', `mode ${zpMode}, but scales have mode ${scaleMode}`)
  if (zpMode !== 0 && head.zpAxis !== head.scaleAxis)
    return complain(
      'quant-zero-axis',
      at('zpAxis'),
      'zp_axis',
      `${head.zpAxis}, but scales run along ${head.scaleAxis}`,
    )
  const zeroCount = zpMode === 0 ? 0 : count
  if (head.zpCount !== BigInt(zeroCount))
    return complain('quant-zero-count', at('zpCount'), 'zp_count', `${head.zpCount}, but ${zeroCount} are needed`)
  const wanted = quantSize(count, zeroCount)
  if (bytes.byteLength !== wanted)
    return complain('quant-size', 0, '', `${bytes.byteLength} bytes, but the counts take ${wanted}`)
  if (zpMode === 0 && head.zpAxis !== 0n)
    complain('quant-zero-axis-unused', at('zpAxis'), 'zp_axis', `${head.zpAxis}, but there are no zero points`)

  const field = (length: number, name: string): DataView => {
    const raw = cursor.raw(length, name)
    return new DataView(raw.buffer, raw.byteOffset, raw.byteLength)
  }
  const scaleView = field(4 * count, 'scales')
  const scales = Array.from({ length: count }, (_, i) => scaleView.getFloat32(4 * i, true))
  const odd = scales.findIndex((scale) => !(scale > 0 && scale < Infinity))
  if (odd >= 0) complain('quant-scale-value', quantHeader.size + 4 * odd, 'scales', `scale ${odd} is ${scales[odd]}`)
  const zeroView = field(4 * zeroCount, 'zero_points')
  const zeroPoints = Array.from({ length: zeroCount }, (_, i) => zeroView.getInt32(4 * i, true))
  checkPadding(cursor, report, extents)
  return { scheme: scheme === 1 ? 'symmetric' : 'asymmetric', axis, scales, ...(zpMode !== 0 && { zeroPoints }) }
}

function checkPadding(cursor: Cursor, report: Report, extents: ReadContext['extents']): void {
  const { offset, remaining: length } = cursor
  if (length === 0) return
  const path = cursor.pathOf('padding')
  const isClean = cursor.take(length, 'padding').every((byte) => byte === 0)
  extents?.add({ file: report.file, offset, length, path, kind: 'padding' })
  if (!isClean) report.report(codes.padding, { offset, length, path, message: 'the padding is not 0' })
}

const quantSize = (scales: number, zeroPoints: number): number => aligned(quantHeader.size + 4 * (scales + zeroPoints))

/** Why OINF cannot hold these parameters, or undefined when it can. */
export function whyQuantUnfit(
  { scheme, axis, scales, zeroPoints }: QuantParams,
  shape: readonly number[],
): string | undefined {
  const count = axis === undefined ? 1 : shape[axis]
  if (count === undefined) return `its scales run along axis ${axis}, which it does not have`
  if (scales.length !== count) return `it has ${scales.length} scales where ${count} belong`
  if (!zeroPoints) return undefined
  if (scheme === 'symmetric') return 'symmetric quantization has no zero points in OINF'
  if (zeroPoints.length !== count) return `it has ${zeroPoints.length} zero points where ${count} belong`
  const isI32 = (value: number): boolean => Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31
  return zeroPoints.every(isI32) ? undefined : 'its zero points are no 32-bit integers'
}

/** The tensor with scales that 32 bits can hold; the same tensor when they do already. */
export function withNarrowScales(tensor: Tensor): Tensor {
  const { quant } = tensor
  if (!quant || quant.scales.every((scale) => Object.is(Math.fround(scale), scale))) return tensor
  return { ...tensor, quant: { ...quant, scales: quant.scales.map(Math.fround) } }
}

/** What the payload takes. */
export const quantSizeOf = ({ scales, zeroPoints }: QuantParams): number =>
  quantSize(scales.length, zeroPoints?.length ?? 0)

/** The payload for parameters that fit. */
export function writeQuant({ scheme, axis, scales, zeroPoints }: QuantParams): Uint8Array {
  const mode = axis === undefined ? perTensor : perChannel
  const zeros = zeroPoints ?? []
  const bytes = new Uint8Array(quantSize(scales.length, zeros.length))
  const view = new DataView(bytes.buffer)
  quantHeader.writeInto(view, 0, {
    scheme: scheme === 'symmetric' ? 1 : 2,
    scaleMode: mode,
    zpMode: zeroPoints ? mode : 0,
    reserved: 0,
    scaleAxis: BigInt(axis ?? 0),
    scaleCount: BigInt(scales.length),
    zpAxis: BigInt(zeroPoints ? (axis ?? 0) : 0),
    zpCount: BigInt(zeros.length),
  })
  let at = quantHeader.size
  for (const scale of scales) {
    view.setFloat32(at, scale, true)
    at += 4
  }
  for (const zero of zeros) {
    view.setInt32(at, zero, true)
    at += 4
  }
  return bytes
}
