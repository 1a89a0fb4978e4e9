// primitiv files put together by hand, byte by byte, so that tests do not lean on the writer they test.
import { type Finding, MemorySource, type Model, openModel, TareError, verifySource } from '../../../src/kit.js'
import { floats } from '../../support/numbers.js'

export { floats }

export const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(/\s/g, ''), 'hex'))
export const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

export function join(...parts: (Uint8Array | string)[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts.map((part) => (typeof part === 'string' ? hex(part) : part))))
}

export function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(5)
  bytes[0] = 0xce
  new DataView(bytes.buffer).setUint32(1, value)
  return bytes
}

export const header = (type: number): Uint8Array => join(u32(0), u32(1), u32(type))

export function str(text: string | Uint8Array): Uint8Array {
  const bytes = typeof text === 'string' ? new Uint8Array(Buffer.from(text)) : text
  if (bytes.byteLength < 32) return join(new Uint8Array([0xa0 + bytes.byteLength]), bytes)
  return join(new Uint8Array([0xda, Math.floor(bytes.byteLength / 256), bytes.byteLength % 256]), bytes)
}

export const list = (...items: Uint8Array[]): Uint8Array => join(new Uint8Array([0x90 + items.length]), ...items)
export const key = (...names: (string | Uint8Array)[]): Uint8Array => list(...names.map(str))
export const shape = (dims: readonly number[], batch = 1): Uint8Array => join(list(...dims.map(u32)), u32(batch))

export function bin(bytes: Uint8Array): Uint8Array {
  const head = new Uint8Array(5)
  head[0] = 0xc6
  new DataView(head.buffer).setUint32(1, bytes.byteLength)
  return bytes.byteLength < 256 ? join(new Uint8Array([0xc4, bytes.byteLength]), bytes) : join(head, bytes)
}

/** A tensor with the values 1, 2, 3, …. */
export function tensor(dims: readonly number[], batch = 1): Uint8Array {
  const count = dims.reduce((product, dim) => product * dim, batch)
  return join(shape(dims, batch), bin(floats(...Array.from({ length: count }, (_, i) => i + 1))))
}

export function parameter(
  dims: readonly number[],
  stats: readonly [string | Uint8Array, Uint8Array][] = [],
): Uint8Array {
  return join(tensor(dims), u32(stats.length), ...stats.flatMap(([name, value]) => [str(name), value]))
}

export const parameterFile = (...body: (Uint8Array | string)[]): Uint8Array => join(header(0x200), ...body)

export function modelFile(...entries: (readonly [Uint8Array, Uint8Array])[]): Uint8Array {
  return join(header(0x300), u32(entries.length), ...entries.flat())
}

export const f32 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(5)
  bytes[0] = 0xca
  new DataView(bytes.buffer).setFloat32(1, value)
  return bytes
}

export function optimizerFile(
  uints: readonly (readonly [string | Uint8Array, Uint8Array])[],
  floatConfigs: readonly (readonly [string | Uint8Array, Uint8Array])[],
): Uint8Array {
  const map = (entries: typeof uints): Uint8Array =>
    join(new Uint8Array([0x80 + entries.length]), ...entries.flatMap(([name, value]) => [str(name), value]))
  return join(header(0x400), map(uints), map(floatConfigs))
}

export const sourceOf = (bytes: Uint8Array, name = 'test.model'): MemorySource => new MemorySource(bytes, name)

export async function open(bytes: Uint8Array, lenient = false): Promise<{ model: Model; findings: Finding[] }> {
  const findings: Finding[] = []
  const model = await openModel(sourceOf(bytes), { lenient, onFinding: (finding) => findings.push(finding) })
  return { model, findings }
}

/** The errors and warnings of a file, without the notes that every file has. */
export async function findingsOf(bytes: Uint8Array, lenient = false): Promise<Finding[]> {
  const { findings } = await verifySource(sourceOf(bytes), { lenient })
  return findings.filter((finding) => finding.severity !== 'note')
}

/** The one error that opening ends with. */
export async function failure(bytes: Uint8Array): Promise<Finding> {
  try {
    await openModel(sourceOf(bytes))
  } catch (error) {
    if (error instanceof TareError) return error.finding
    throw error
  }
  throw new Error('it opened')
}
