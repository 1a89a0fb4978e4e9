// Metadata as rows of text. Long lists show their first items; a whole value is asked for by its key.
import type { Metadata, MetaValue } from 'tare'

export interface MetadataRow {
  readonly key: string
  readonly type: string
  readonly text: string
  /** There is more than `text` shows. */
  readonly isCut: boolean
}

export interface MetadataPage {
  /** How many rows the search leaves. */
  readonly total: number
  readonly rows: readonly MetadataRow[]
}

const rowLength = 240
const textLength = 200_000
const listItems = 64

export function metadataPage(metadata: Metadata, search: string, from: number, to: number): MetadataPage {
  const wanted = search.trim().toLowerCase()
  const found: [string, MetaValue][] = []
  for (const [key, value] of metadata) {
    const isHit = wanted === '' || key.toLowerCase().includes(wanted) || plainText(value).toLowerCase().includes(wanted)
    if (isHit) found.push([key, value])
  }
  return { total: found.length, rows: found.slice(from, to).map(([key, value]) => rowOf(key, value)) }
}

/** Everything that the entry says, up to a length that a page can show. */
export function metadataText(metadata: Metadata, key: string): string {
  const value = metadata.get(key)
  if (!value) return ''
  const text = plainText(value, 10_000)
  return text.length > textLength ? `${text.slice(0, textLength)}…` : text
}

function rowOf(key: string, value: MetaValue): MetadataRow {
  const text = plainText(value, 16)
  const isList = value.type === 'array' && value.length > 16
  const isCut = text.length > rowLength || isList
  return { key, type: typeName(value), text: text.length > rowLength ? `${text.slice(0, rowLength)}…` : text, isCut }
}

export function typeName(value: MetaValue): string {
  if (value.type === 'array') return `${value.item}[${value.length}]`
  if (value.type === 'ndarray') return `${value.dtype.id}[${value.shape.join(', ')}]`
  if (value.type === 'bytes') return `bytes[${value.value.byteLength}]`
  return value.type
}

function plainText(value: MetaValue, items = listItems): string {
  switch (value.type) {
    case 'null':
      return 'null'
    case 'array': {
      const shown = value.slice?.(0, items) ?? value.values().slice(0, items)
      const more = value.length > items ? ', …' : ''
      return `[${shown.map((item) => plainText(item, items)).join(', ')}${more}]`
    }
    case 'json':
      return JSON.stringify(value.value)
    case 'bytes':
    case 'bitset':
      return hex(value.value, items)
    case 'ndarray':
      return hex(value.value, items)
    default:
      return String(value.value)
  }
}

const hex = (bytes: Uint8Array, items: number): string =>
  Array.from(bytes.subarray(0, items), (byte) => byte.toString(16).padStart(2, '0')).join(' ') +
  (bytes.byteLength > items ? ' …' : '')
