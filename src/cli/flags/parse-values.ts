import { UsageError } from '../status.js'

const units: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 1024,
  kib: 1024,
  kb: 1000,
  m: 1024 ** 2,
  mib: 1024 ** 2,
  mb: 1000 ** 2,
  g: 1024 ** 3,
  gib: 1024 ** 3,
  gb: 1000 ** 3,
  t: 1024 ** 4,
  tib: 1024 ** 4,
  tb: 1000 ** 4,
}

/** `2GB` is 2·10^9, `64K` and `64KiB` are 65536, as in the core utilities. */
export function parseSize(text: string): number {
  const match = /^([0-9]+(?:\.[0-9]+)?) ?([a-z]*)$/i.exec(text.trim())
  const unit = match && units[match[2]!.toLowerCase()]
  const size = unit ? Number(match[1]) * unit : Number.NaN
  if (!Number.isSafeInteger(Math.round(size)) || size < 1)
    throw new UsageError('Expected a size such as 2GB, 64K or 1MiB.')
  return Math.round(size)
}

export function parseCount(text: string): number {
  const value = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(value)) throw new UsageError('Expected a whole number.')
  return value
}

export function parsePositive(text: string): number {
  const value = parseCount(text)
  if (value === 0) throw new UsageError('Expected a whole number above 0.')
  return value
}

/** A level of zstd. */
export function parseLevel(text: string): number {
  const value = parsePositive(text)
  if (value > 19) throw new UsageError('Expected a level from 1 to 19.')
  return value
}

/** Bits per weight. */
export function parseBits(text: string): number {
  const value = /^[0-9]+(?:\.[0-9]+)?$/.test(text) ? Number(text) : Number.NaN
  if (!(value > 0 && value <= 64)) throw new UsageError('Expected a number of bits up to 64, such as 4.25.')
  return value
}

export function parsePort(text: string): number {
  const value = parseCount(text)
  if (value > 65_535) throw new UsageError('Expected a port, 0 to 65535.')
  return value
}

/** Decimal, or hexadecimal after `0x`. */
export function parseOffset(text: string): number {
  const value = /^(0x[0-9a-f]+|[0-9]+)$/i.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(value)) throw new UsageError('Expected a byte offset such as 456 or 0x1c8.')
  return value
}

/** `a,b,c`. */
export function parseList(text: string): string[] {
  const items = text.split(',').map((item) => item.trim())
  if (items.includes('')) throw new UsageError('Expected names such as name,size.')
  return items
}

/** `key=value`; the value may hold further equals signs. */
export function parseAssignment(text: string): [key: string, value: string] {
  const at = text.indexOf('=')
  if (at < 1) throw new UsageError('Expected key=value.')
  return [text.slice(0, at), text.slice(at + 1)]
}

/** `Name: value`, as in an HTTP request, which can hold Latin-1 and not all of Unicode. */
export function parseHeader(text: string): [name: string, value: string] {
  const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\xa0-\xff]*)$/.exec(text)
  if (!match) throw new UsageError('Expected a header such as "Authorization: Bearer …".')
  return [match[1]!, match[2]!]
}

/** `-1.5,1.5`. */
export function parseRange(text: string): [low: number, high: number] {
  const [low, high, ...rest] = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  const isRange = low !== undefined && high !== undefined && rest.length === 0 && low <= high
  if (!isRange) throw new UsageError('Expected two numbers such as -1.5,1.5.')
  return [low, high]
}

/** `1e-5` for both, or `abs=1e-6,rel=1e-3`; what is left out is 0. */
export function parseTolerance(text: string): number | { abs: number; rel: number } {
  const wrong = new UsageError('Expected a number such as 1e-5, or abs=1e-6,rel=1e-3.')
  const read = (digits: string | undefined): number => {
    const value = digits?.trim() ? Number(digits) : Number.NaN
    if (!Number.isFinite(value)) throw wrong
    return value
  }
  if (!text.includes('=')) return read(text)
  const tolerance = { abs: 0, rel: 0 }
  for (const part of text.split(',')) {
    const [key, value, ...rest] = part.split('=')
    if ((key !== 'abs' && key !== 'rel') || rest.length > 0) throw wrong
    tolerance[key] = read(value)
  }
  return tolerance
}

/** The limits of `smallestSide` and `largestSide`, repeated because declarations import nothing of the library; a test compares them. */
export const pictureSides = [240, 8192] as const

/** `1200x900`. */
export function parsePictureSize(text: string): { readonly width: number; readonly height: number } {
  const [width = 0, height = 0] = /^(\d{1,5})x(\d{1,5})$/i.exec(text)?.slice(1).map(Number) ?? []
  const isPossible = (side: number): boolean => side >= pictureSides[0] && side <= pictureSides[1]
  if (!isPossible(width) || !isPossible(height))
    throw new UsageError(`Expected width and height, ${pictureSides[0]} to ${pictureSides[1]} each, such as 1200x900.`)
  return { width, height }
}

/** A worker among several: `3/8`, counted from 1. */
export function parsePart(text: string): { readonly part: number; readonly parts: number } {
  const [, part, parts] = /^([0-9]+)\/([0-9]+)$/.exec(text) ?? []
  if (part === undefined || !(Number(part) >= 1 && Number(part) <= Number(parts)))
    throw new UsageError('Expected I/N such as 1/8: worker I of N, counted from 1.')
  return { part: Number(part), parts: Number(parts) }
}
