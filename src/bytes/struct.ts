// A struct declares the fixed fields of a record once. From that one declaration it reads and writes the record, knows its size and
// every field's offset, and names fields in errors and in the byte map. Variable parts (strings, lists) are read with the cursor.

import { sizeAt, wideAt } from './checked.js'
import type { Cursor } from './cursor.js'
import { toHex } from './text.js'

export interface Field<T> {
  readonly size: number
  read(cursor: Cursor, name: string): T
  /** The value at an offset; undefined for one that `read` would refuse. */
  get(view: DataView, offset: number, littleEndian: boolean): T | undefined
  write(view: DataView, offset: number, value: T, littleEndian: boolean): void
}

export const u8: Field<number> = {
  size: 1,
  read: (cursor, name) => cursor.u8(name),
  get: (view, offset) => view.getUint8(offset),
  write: (view, offset, value) => view.setUint8(offset, value),
}

export const u16: Field<number> = {
  size: 2,
  read: (cursor, name) => cursor.u16(name),
  get: (view, offset, le) => view.getUint16(offset, le),
  write: (view, offset, value, le) => view.setUint16(offset, value, le),
}

export const u32: Field<number> = {
  size: 4,
  read: (cursor, name) => cursor.u32(name),
  get: (view, offset, le) => view.getUint32(offset, le),
  write: (view, offset, value, le) => view.setUint32(offset, value, le),
}

export const i32: Field<number> = {
  size: 4,
  read: (cursor, name) => cursor.i32(name),
  get: (view, offset, le) => view.getInt32(offset, le),
  write: (view, offset, value, le) => view.setInt32(offset, value, le),
}

export const f32: Field<number> = {
  size: 4,
  read: (cursor, name) => cursor.f32(name),
  get: (view, offset, le) => view.getFloat32(offset, le),
  write: (view, offset, value, le) => view.setFloat32(offset, value, le),
}

/** All 64 bits, as a bigint. */
export const u64: Field<bigint> = {
  size: 8,
  read: (cursor, name) => cursor.u64(name),
  get: (view, offset, le) => view.getBigUint64(offset, le),
  write: (view, offset, value, le) => view.setBigUint64(offset, value, le),
}

/** All 64 bits: a number, or a bigint beyond 2^53-1. Faster than `u64`, for tables with many records. */
export const wide: Field<number | bigint> = {
  size: 8,
  read: (cursor, name) => cursor.wide(name),
  get: wideAt,
  write: (view, offset, value, le) => view.setBigUint64(offset, BigInt(value), le),
}

/** A u64 that counts bytes or items: a number, and an error in the file when it is beyond 2^53-1. */
export const size: Field<number> = {
  size: 8,
  read: (cursor, name) => cursor.size(name),
  get: sizeAt,
  write: (view, offset, value, le) => view.setBigUint64(offset, BigInt(value), le),
}

/** `length` raw bytes: magic numbers, digests, reserved space. */
export function raw(length: number): Field<Uint8Array> {
  return {
    size: length,
    read: (cursor, name) => cursor.raw(length, name, (bytes) => toHex(bytes.subarray(0, 32))),
    get: (view, offset) => new Uint8Array(view.buffer, view.byteOffset + offset, length),
    write: (view, offset, value) => {
      new Uint8Array(view.buffer, view.byteOffset + offset, length).set(value)
    },
  }
}

type Values<F> = { -readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never }

export interface Struct<V> {
  readonly size: number
  offsetOf(field: keyof V & string): number
  /** The field as paths name it. */
  nameOf(field: keyof V & string): string
  /**
   * Reads one field of the little-endian record at an offset; all of the record is there. Several times as fast as `read`, for tables of many
   * records. A `size` beyond 2^53-1 comes as undefined, so tables that may hold one declare it as `wide`.
   */
  readonly get: { readonly [K in keyof V]: (view: DataView, offset: number) => V[K] }
  /** Reads the record at the cursor. */
  read(cursor: Cursor): V
  write(values: V, littleEndian?: boolean): Uint8Array
  writeInto(view: DataView, offset: number, values: V, littleEndian?: boolean): void
}

export type StructValues<S> = S extends Struct<infer V> ? V : never

/** Field names are camelCase in code and snake_case in paths, as most format documents write them. */
// biome-ignore lint/suspicious/noExplicitAny: a field's type is inferred from its declaration; nothing is read through `any`
export function struct<F extends Record<string, Field<any>>>(fields: F): Struct<Values<F>> {
  type V = Values<F>
  // biome-ignore lint/suspicious/noExplicitAny: see above
  const rows: { key: keyof V & string; name: string; offset: number; field: Field<any> }[] = []
  let length = 0
  for (const [key, field] of Object.entries(fields)) {
    const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    rows.push({ key: key as keyof V & string, name, offset: length, field })
    length += field.size
  }
  const rowOf = new Map(rows.map((row) => [row.key, row]))
  const valuesAt = (cursor: Cursor): V | undefined => {
    const { view, position, littleEndian } = cursor
    const values = {} as V
    for (let i = 0; i < rows.length; i++) {
      const { key, offset, field } = rows[i]!
      const value = field.get(view, position + offset, littleEndian)
      if (value === undefined) return undefined
      values[key] = value
    }
    cursor.seek(cursor.offset + length)
    return values
  }
  const get = Object.fromEntries(
    rows.map(({ key, offset: at, field }) => [
      key,
      (view: DataView, offset: number) => field.get(view, offset + at, true),
    ]),
  ) as Struct<V>['get']
  return {
    size: length,
    get,
    offsetOf: (key) => rowOf.get(key)!.offset,
    nameOf: (key) => rowOf.get(key)!.name,
    read(cursor) {
      // Without a byte map, and with all bytes there, nothing needs a name: that is several times as fast, and an index has many records.
      const known = cursor.extents || cursor.remaining < length ? undefined : valuesAt(cursor)
      if (known) return known
      const values = {} as V
      for (const row of rows) values[row.key] = row.field.read(cursor, row.name)
      return values
    },
    write(values, littleEndian = true) {
      const bytes = new Uint8Array(length)
      this.writeInto(new DataView(bytes.buffer), 0, values, littleEndian)
      return bytes
    },
    writeInto(view, offset, values, littleEndian = true) {
      for (const row of rows) row.field.write(view, offset + row.offset, values[row.key] as never, littleEndian)
    },
  }
}
