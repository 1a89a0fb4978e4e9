// Cells of tables: short for people, and the whole number for programs.
import { formatInteger, formatOffset, formatSize, formatValue } from './format-values.js'
import type { Cell } from './table.js'

const cell = (text: string, value: number | string): Cell => ({ text, value })

export const sizeCell = (bytes: number): Cell => cell(formatSize(bytes), bytes)
export const integerCell = (value: number): Cell => cell(formatInteger(value), value)
export const offsetCell = (offset: number): Cell => cell(formatOffset(offset), offset)

/** A value of a tensor; nothing where there is none. */
export const valueCell = (value: unknown): Cell =>
  cell(
    formatValue(value),
    typeof value === 'number' ? value : value === null || value === undefined ? '' : String(value),
  )

/** A measure with a fixed number of digits. */
export const fixedCell = (value: number | null, digits: number): Cell =>
  value === null ? cell('-', '') : cell(value.toFixed(digits), value)
