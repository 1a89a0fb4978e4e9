// Files put together by hand, field by field, so that tests can break any of them.
import { type Finding, MemorySource, verifySource } from '../../../src/kit.js'

type Bytes = number[]

export const u32 = (value: number): Bytes => [...new Uint8Array(Uint32Array.of(value).buffer)]
export const u64 = (value: number | bigint): Bytes => [
  ...new Uint8Array(BigUint64Array.of(BigInt.asUintN(64, BigInt(value))).buffer),
]
export const str = (text: string | Bytes): Bytes => {
  const bytes = typeof text === 'string' ? [...new TextEncoder().encode(text)] : text
  return [...u64(bytes.length), ...bytes]
}

/** A metadata entry: key, type, value bytes. */
export const entry = (key: string | Bytes, type: number, value: Bytes): Bytes => [...str(key), ...u32(type), ...value]
export const textEntry = (key: string, value: string | Bytes): Bytes => entry(key, 8, str(value))
export const u32Entry = (key: string, value: number): Bytes => entry(key, 4, u32(value))
export const list = (itemType: number, count: number | bigint, items: Bytes): Bytes => [
  ...u32(itemType),
  ...u64(count),
  ...items,
]

export interface InfoParts {
  readonly name?: string | Bytes
  readonly dims?: readonly (number | bigint)[]
  readonly type?: number
  readonly offset?: number | bigint
}

export const info = ({ name = 'w', dims = [4], type = 0, offset = 0 }: InfoParts = {}): Bytes => [
  ...str(name),
  ...u32(dims.length),
  ...dims.flatMap((dim) => u64(dim)),
  ...u32(type),
  ...u64(offset),
]

export interface FileParts {
  readonly magic?: string
  readonly version?: number
  readonly entries?: readonly Bytes[]
  readonly infos?: readonly Bytes[]
  readonly data?: number
  readonly alignment?: number
  readonly entryCount?: number | bigint
  readonly tensorCount?: number | bigint
  readonly tail?: Bytes
}

export const architecture = textEntry('general.architecture', 'tare')

/** A whole file; what is not given is right. Data bytes are 1, 2, 3 … and padding is zero. */
export function build(parts: FileParts = {}): Uint8Array {
  const { magic = 'GGUF', version = 3, entries = [architecture], infos = [info()], data = 16, alignment = 32 } = parts
  const index = [
    ...new TextEncoder().encode(magic),
    ...u32(version),
    ...u64(parts.tensorCount ?? infos.length),
    ...u64(parts.entryCount ?? entries.length),
    ...entries.flat(),
    ...infos.flat(),
  ]
  const start = Math.ceil(index.length / alignment) * alignment
  const file = new Uint8Array(start + Math.ceil(data / alignment) * alignment + (parts.tail?.length ?? 0))
  file.set(index)
  for (let i = 0; i < data; i++) file[start + i] = 1 + (i % 255)
  file.set(parts.tail ?? [], file.length - (parts.tail?.length ?? 0))
  return file
}

export const sourceOf = (bytes: Uint8Array, name = 'm.gguf'): MemorySource => new MemorySource(bytes, name)

/** The codes of everything that verifying finds, but for the note that there are no checksums. */
export async function findingsOf(bytes: Uint8Array): Promise<readonly Finding[]> {
  const { findings } = await verifySource(sourceOf(bytes))
  return findings.filter((finding) => finding.code !== 'verify/no-checksums')
}

export const codesOf = async (bytes: Uint8Array): Promise<string[]> =>
  (await findingsOf(bytes)).map((finding) => finding.code)
