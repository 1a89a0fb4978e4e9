// Every file begins with three numbers, fifteen bytes: version 0, version 1, and the type of what follows.
import type { FieldReader } from './fields.js'

export type FileType = 'shape' | 'tensor' | 'parameter' | 'model' | 'optimizer'

/** The type number is the place in this list times 0x100. */
export const fileTypes: readonly FileType[] = ['shape', 'tensor', 'parameter', 'model', 'optimizer']

export const headerSize = 15
export const maxDims = 8
const titles = { shape: 'Shape', tensor: 'Tensor', parameter: 'Parameter', model: 'Model', optimizer: 'Optimizer' }
export const titleOf = (type: FileType): string => titles[type]

export const typeNumber = (type: FileType): number => 0x100 * fileTypes.indexOf(type)

export function readHeader(fields: FieldReader): FileType {
  const at = fields.msgpack.offset
  const major = fields.uint('ver_major')
  const minor = fields.uint('ver_minor')
  if (major !== 0 || minor !== 1)
    fields.fail('version', at, `version ${major}.${minor}, only 0.1 is known`, 'ver_major')
  const typeAt = fields.msgpack.offset
  const number = fields.uint('data_type')
  const type = number % 0x100 === 0 ? fileTypes[number / 0x100] : undefined
  return type ?? fields.fail('data-type', typeAt, `0x${number.toString(16)} is not a known type`)
}

/**
 * There is no magic number, only this pattern. `maybe` is a header that is cut, of another version or type, or (where the file name fits)
 * with numbers in other forms: worth a message that says what is wrong.
 */
export function detectHeader(head: Uint8Array, isNamed: boolean): 'yes' | 'maybe' | 'no' {
  if (head.byteLength === 0) return 'no'
  const pattern = [0xce, 0, 0, 0, 0, 0xce, 0, 0, 0, 1, 0xce, 0, 0]
  const same = pattern.findIndex((byte, i) => head[i] !== byte)
  if (same < 0 && head.byteLength >= headerSize && head[13]! < fileTypes.length && head[14] === 0) return 'yes'
  const matched = same < 0 ? pattern.length : same
  if (matched >= Math.min(10, head.byteLength) && head.byteLength >= 5) return 'maybe'
  const hasForms = head.byteLength >= headerSize && head[0] === 0xce && head[5] === 0xce && head[10] === 0xce
  const isSmall = hasForms && [1, 2, 3, 6, 7, 8, 11, 12].every((i) => head[i] === 0)
  if (isSmall && (matched === 4 || matched === 9)) return 'maybe'
  return isNamed && looksLikeNumbers(head) ? 'maybe' : 'no'
}

/** 0, 1 and a type number, each in any form of whole number. */
function looksLikeNumbers(head: Uint8Array): boolean {
  const widths: ReadonlyMap<number, number> = new Map([
    [0xcc, 1],
    [0xcd, 2],
    [0xce, 4],
    [0xcf, 8],
    [0xd0, 1],
    [0xd1, 2],
    [0xd2, 4],
    [0xd3, 8],
  ])
  let at = 0
  const numbers: number[] = []
  while (numbers.length < 3 && at < head.byteLength) {
    const form = head[at++]!
    const width = form < 0x80 ? 0 : widths.get(form)
    if (width === undefined || at + width > head.byteLength) return false
    let value = width === 0 ? form : 0
    for (let i = 0; i < width; i++) value = value * 256 + head[at + i]!
    numbers.push(value)
    at += width
  }
  return (
    numbers.length === 3 && numbers[0] === 0 && numbers[1] === 1 && numbers[2]! % 0x100 === 0 && numbers[2]! <= 0x400
  )
}
