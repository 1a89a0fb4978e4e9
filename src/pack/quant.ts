// Quantization that a container states beside the tensor: real = scale · (stored − zero point), one pair for the whole tensor or one
// for each index along an axis.
import type { QuantParams } from '../model/index.js'
import { packCodes } from './codes.js'
import { describe, type Field, fail, knownMembers, textOf } from './field.js'
import { Float } from './float.js'
import { failAt, readValues, type Values } from './values.js'

export function readQuant(field: Field | undefined, shape: readonly number[]): QuantParams | undefined {
  if (!field) return undefined
  const members = knownMembers(
    field,
    ['scheme', 'scales', 'zeroPoints', 'axis'],
    'an object that says how it is quantized',
  )
  const scheme = readScheme(members.get('scheme'), field)
  const axis = readAxis(members.get('axis'), shape)
  const wanted = axis === undefined ? 1 : shape[axis]!
  const place = axis === undefined ? 'the whole tensor' : `dimension ${axis}`
  const scalesField = members.get('scales') ?? fail(field, packCodes.missing, 'scales are missing')
  const scales = readScales(scalesField, wanted, place)
  const zeroField = members.get('zeroPoints')
  if (!zeroField) return { scheme, axis, scales }
  if (scheme === 'symmetric')
    fail(zeroField, packCodes.quant, 'the symmetric scheme has no zero points; leave them out or call it asymmetric')
  return { scheme, axis, scales, zeroPoints: readZeroPoints(zeroField, wanted, place) }
}

function readScheme(field: Field | undefined, parent: Field): QuantParams['scheme'] {
  if (!field) return fail(parent, packCodes.missing, 'scheme is missing: symmetric or asymmetric')
  const scheme = textOf(field, 'symmetric or asymmetric')
  if (scheme === 'symmetric' || scheme === 'asymmetric') return scheme
  return fail(field, packCodes.quant, `expected symmetric or asymmetric, not ${JSON.stringify(scheme)}`)
}

function readAxis(field: Field | undefined, shape: readonly number[]): number | undefined {
  if (!field) return undefined
  const { value } = field
  const axis = typeof value === 'bigint' ? Number(value) : value instanceof Float ? value.value : value
  if (typeof axis === 'number' && Number.isInteger(axis) && axis >= 0 && axis < shape.length) return axis
  const range = shape.length === 0 ? 'a scalar has none' : `expected one of 0 to ${shape.length - 1}`
  return fail(field, packCodes.quant, `there is no dimension ${describe(value)}; ${range}`)
}

function readScales(field: Field, wanted: number, place: string): number[] {
  const values = readParameters(field, wanted, place)
  return Array.from(values.items, (item, i) => {
    const scale = Math.fround(Number(item))
    if (scale === 0) failAt(field, values.shape, i, packCodes.quant, `with a scale of ${item} every value would be 0`)
    if (Number.isFinite(scale)) return scale
    return failAt(field, values.shape, i, packCodes['value-range'], `${item} does not fit f32 as a finite number`)
  })
}

function readZeroPoints(field: Field, wanted: number, place: string): number[] {
  const values = readParameters(field, wanted, place)
  return Array.from(values.items, (item, i) => {
    const point = Number(item)
    if (Number.isInteger(point) && point >= -(2 ** 31) && point < 2 ** 31) return point
    return failAt(field, values.shape, i, packCodes['value-range'], `${item} does not fit i32`)
  })
}

function readParameters(field: Field, wanted: number, place: string): Values {
  const values = readValues(field)
  const { shape, items, kind } = values
  if (shape.length > 1 || kind === 'bool') fail(field, packCodes.quant, 'expected a number or a plain list of numbers')
  if (items.length !== wanted) {
    const hint = wanted === 1 && items.length > 1 ? '; say along which axis they run' : ''
    fail(field, packCodes.quant, `${place} wants ${wanted}, there are ${items.length}${hint}`)
  }
  return values
}
