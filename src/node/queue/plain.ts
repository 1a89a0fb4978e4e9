// Jobs and results of threads as JSON, for other machines: with bytes, lists of floats, and numbers that JSON does not have.
import { fromBase64, toBase64 } from '../../bytes/index.js'

/** What cannot be sent: a file that is open here, memory that threads share. */
export class Unsendable extends Error {}

const tag = '$'

export function toPlain(value: unknown): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0) ? value : { [tag]: word(value) }
  if (value instanceof Uint8Array) return { [tag]: 'bytes', value: toBase64(value) }
  if (value instanceof Float32Array) return { [tag]: 'floats', value: toBase64(bytesOf(value)) }
  if (Array.isArray(value)) return value.map(toPlain)
  if (typeof value !== 'object' || (Object.getPrototypeOf(value) !== Object.prototype && !isBare(value)))
    throw new Unsendable(`${typeof value} cannot be sent`)
  const { kind } = value as { kind?: unknown }
  if (kind === 'descriptor' || kind === 'blob') throw new Unsendable('a file that is open here cannot be sent')
  const members = Object.entries(value).filter(([, each]) => each !== undefined)
  return Object.fromEntries(members.map(([key, each]) => [key, toPlain(each)]))
}

const isBare = (value: object): boolean => Object.getPrototypeOf(value) === null
const word = (value: number): string => (Object.is(value, -0) ? '-0' : String(value))
const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

/** Throws where somebody else has written it. */
export function fromPlain(plain: unknown): unknown {
  if (Array.isArray(plain)) return plain.map(fromPlain)
  if (typeof plain !== 'object' || plain === null) return plain
  if (Object.hasOwn(plain, tag)) return untagged(plain as { readonly value?: unknown })
  return Object.fromEntries(Object.entries(plain).map(([key, each]) => [key, fromPlain(each)]))
}

function untagged(tagged: Readonly<Record<string, unknown>>): unknown {
  const { [tag]: kind, value } = tagged
  if (kind === 'NaN' || kind === 'Infinity' || kind === '-Infinity' || kind === '-0') return Number(kind)
  const bytes = typeof value === 'string' ? fromBase64(value) : undefined
  if (bytes && kind === 'bytes') return bytes
  if (bytes && kind === 'floats' && bytes.byteLength % 4 === 0) return new Float32Array(bytes.slice().buffer)
  throw new Error('this is nothing that tare sends')
}
