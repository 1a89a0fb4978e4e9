// The fields of a protobuf message, as far as the first bytes of a file show them. A guess that helps to recognise what is inside.

import { decodeUtf8 } from '../bytes/index.js'
import { varintAt } from '../wire/protobuf/varints.js'

export interface Field {
  readonly number: number
  /** Of a varint. */
  readonly value?: number
  /** Of what has a length: the bytes, which may lie beyond those that are here. */
  readonly start?: number
  readonly end: number
  /** A number of four or eight bytes. */
  readonly isFixed: boolean
}

/** More fields than these tell nothing new. */
const maxFields = 10_000

/** Ends where the bytes do, or are no field. */
export function* fieldsOf(bytes: Uint8Array, from: number, to: number): Generator<Field, void, void> {
  let at = from
  for (let count = 0; at < to && count < maxFields; count++) {
    const tag = varintAt(bytes, at)
    const number = tag && Math.floor(tag.value / 8)
    if (!tag || !number || number > 100_000) return
    const wire = tag.value % 8
    if (wire === 1 || wire === 5) {
      at = tag.end + (wire === 1 ? 8 : 4)
      yield { number, end: at, isFixed: true }
      continue
    }
    const value = wire === 0 || wire === 2 ? varintAt(bytes, tag.end) : undefined
    if (!value) return
    at = wire === 0 ? value.end : value.end + value.value
    yield wire === 0
      ? { number, value: value.value, end: at, isFixed: false }
      : { number, start: value.end, end: at, isFixed: false }
  }
}

/** Whether a field holds a text that one can read, or one of a certain form. */
export function isText(bytes: Uint8Array, { start, end }: Field, form = /^[^\u0000-\u001f]+$/): boolean {
  const text = start === undefined || end > bytes.byteLength ? undefined : decodeUtf8(bytes.subarray(start, end))
  return text !== undefined && form.test(text)
}
