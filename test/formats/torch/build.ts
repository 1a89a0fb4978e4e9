// PyTorch files made by hand: pickles from a small assembler, archives and old-format files around them.
import { craftZip } from '../../wire/zip/build.js'

const latin1 = (text: string): number[] => [...text].map((character) => character.charCodeAt(0))
const u32 = (value: number): number[] => [0, 8, 16, 24].map((shift) => Math.floor(value / 2 ** shift) % 256)

/** A piece of pickle that pushes one value. */
export type Code = readonly number[]

export const none: Code = latin1('N')
export const bool = (value: boolean): Code => [value ? 0x88 : 0x89]
export const float = (value: number): Code => {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setFloat64(0, value)
  return [0x47, ...bytes]
}
export const str = (value: string): Code => {
  const bytes = new TextEncoder().encode(value)
  return [0x58, ...u32(bytes.length), ...bytes]
}
export const int = (value: number | bigint): Code => {
  const bytes: number[] = []
  let rest = BigInt(value)
  for (let i = 0; i < 16; i++, rest >>= 8n) bytes.push(Number(BigInt.asUintN(8, rest)))
  return [0x8a, 16, ...bytes]
}
export const tuple = (...items: Code[]): Code => [0x28, ...items.flat(), 0x74]
export const ints = (values: readonly (number | bigint)[]): Code => tuple(...values.map(int))
export const list = (...items: Code[]): Code => [0x5d, 0x28, ...items.flat(), 0x65]
export const dict = (entries: Readonly<Record<string, Code>>): Code => [
  ...latin1('}('),
  ...Object.entries(entries).flatMap(([key, value]) => [...str(key), ...value]),
  ...latin1('u'),
]
export const global = (name: string): Code => latin1(`c${name.replace(' ', '\n')}\n`)
export const call = (name: string, ...args: Code[]): Code => [...global(name), ...tuple(...args), 0x52]
export const build = (object: Code, state: Code): Code => [...object, ...state, 0x62]
export const put = (index: number, code: Code): Code => [...code, 0x72, ...u32(index)]
export const get = (index: number): Code => [0x6a, ...u32(index)]
export const pickle = (code: Code): Uint8Array => Uint8Array.from([0x80, 2, ...code, 0x2e])

export const orderedDict: Code = call('collections OrderedDict')

export const storage = (key: string, type: string, count: number, ...more: Code[]): Code => [
  ...tuple(str('storage'), global(type), str(key), str('cpu'), int(count), ...more),
  0x51,
]

export interface ViewOptions {
  readonly offset?: number
  readonly strides?: readonly number[]
  readonly flags?: Code
}

export function tensor(of: Code, shape: readonly number[], options: ViewOptions = {}): Code {
  const args = [
    of,
    int(options.offset ?? 0),
    ints(shape),
    ints(options.strides ?? rowMajor(shape)),
    bool(false),
    orderedDict,
  ]
  return call('torch._utils _rebuild_tensor_v2', ...args, ...(options.flags ? [options.flags] : []))
}

export const rowMajor = (shape: readonly number[]): number[] =>
  shape.map((_, axis) => shape.slice(axis + 1).reduce((product, dim) => product * dim, 1))

export interface ArchiveOptions {
  readonly deflate?: boolean
  readonly more?: Readonly<Record<string, Uint8Array>>
  readonly root?: string
  /** Members outside the top folder. */
  readonly outside?: Readonly<Record<string, Uint8Array>>
}

export const text = (value: string): Uint8Array => new TextEncoder().encode(value)

export function archive(
  root: Code,
  storages: Readonly<Record<string, Uint8Array>> = {},
  options: ArchiveOptions = {},
): Uint8Array {
  const folder = options.root ?? 'archive/'
  const deflate = options.deflate ?? false
  const records = Object.entries({
    'data.pkl': pickle(root),
    ...Object.fromEntries(Object.entries(storages).map(([key, bytes]) => [`data/${key}`, bytes])),
    version: text('3\n'),
    ...options.more,
  })
  const inside = records.map(([name, content]) => ({ name: folder + name, content, deflate }))
  const outside = Object.entries(options.outside ?? {}).map(([name, content]) => ({ name, content }))
  return craftZip([...inside, ...outside])
}

export interface LegacyOptions {
  readonly bigEndian?: boolean
  readonly elementSize?: number
  readonly keys?: readonly string[]
  readonly info?: Code
  readonly magic?: bigint
}

export function legacy(
  root: Code,
  storages: Readonly<Record<string, Uint8Array>>,
  options: LegacyOptions = {},
): Uint8Array {
  const info = options.info ?? dict({ little_endian: bool(!options.bigEndian) })
  const keys = options.keys ?? Object.keys(storages)
  const parts = [
    pickle([0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19]),
    pickle(int(1001)),
    pickle(info),
    pickle(root),
    pickle(list(...keys.map(str))),
  ]
  for (const bytes of Object.values(storages)) {
    const count = new Uint8Array(8)
    new DataView(count.buffer).setBigInt64(0, BigInt(bytes.length / (options.elementSize ?? 4)), true)
    parts.push(count, bytes)
  }
  return Uint8Array.from(parts.flatMap((part) => [...part]))
}
