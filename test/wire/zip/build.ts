// Zip archives made by hand, so that every field can be wrong.
import { crc32, deflateRawSync } from 'node:zlib'

export interface CraftMember {
  readonly name: string | Uint8Array
  readonly content: Uint8Array
  readonly deflate?: boolean
  /** Sizes and checksum behind the data instead of before it. */
  readonly descriptor?: 'plain' | 'signed' | 'wide'
  readonly extra?: Uint8Array
  /** Bytes between this member and the next. */
  readonly gap?: number
  /** Values that replace the right ones. */
  readonly local?: Fields
  readonly central?: Fields
  readonly descriptorCrc?: number
}

interface Fields {
  readonly flags?: number
  readonly method?: number
  readonly crc?: number
  readonly storedSize?: number
  readonly size?: number
  readonly name?: string
  readonly offset?: number
  readonly extra?: Uint8Array
  readonly disk?: number
}

export interface CraftOptions {
  readonly prefix?: Uint8Array
  readonly comment?: Uint8Array
  readonly count?: number
  readonly zip64?: boolean
  /** Replaces the place of the directory. */
  readonly directoryOffset?: number
  readonly disk?: number
}

const encoder = new TextEncoder()
const u16 = (value: number): number[] => [value % 256, Math.floor(value / 256) % 256]
const u32 = (value: number): number[] => [...u16(value % 65536), ...u16(Math.floor(value / 65536) % 65536)]
export const u64 = (value: number): number[] => [...u32(value % 2 ** 32), ...u32(Math.floor(value / 2 ** 32))]

export function craftZip(members: readonly CraftMember[], options: CraftOptions = {}): Uint8Array {
  const parts: (Uint8Array | readonly number[])[] = [options.prefix ?? []]
  let at = 0
  const put = (part: Uint8Array | readonly number[]): void => {
    parts.push(part)
    at += part.length
  }
  const entries: number[][] = []
  for (const member of members) {
    const name = typeof member.name === 'string' ? encoder.encode(member.name) : member.name
    const data = member.deflate ? new Uint8Array(deflateRawSync(member.content)) : member.content
    const utf8 = typeof member.name === 'string' && name.some((byte) => byte > 127) ? 2048 : 0
    const right = {
      flags: utf8 + (member.descriptor ? 8 : 0),
      method: member.deflate ? 8 : 0,
      crc: crc32(member.content),
      storedSize: data.length,
      size: member.content.length,
    }
    const offset = at
    const local = { ...right, ...(member.descriptor && { crc: 0, storedSize: 0, size: 0 }), ...member.local }
    const localName = member.local?.name === undefined ? name : encoder.encode(member.local.name)
    const extra = member.local?.extra ?? member.extra ?? new Uint8Array()
    put([0x50, 0x4b, 3, 4, ...fields(local), ...u16(localName.length), ...u16(extra.length), ...localName, ...extra])
    put(data)
    if (member.descriptor) {
      const size = member.descriptor === 'wide' ? u64 : u32
      const signature = member.descriptor === 'plain' ? [] : [0x50, 0x4b, 7, 8]
      put([...signature, ...u32(member.descriptorCrc ?? right.crc), ...size(right.storedSize), ...size(right.size)])
    }
    put(new Uint8Array(member.gap ?? 0).fill(0xaa))
    const central = { ...right, offset, extra: new Uint8Array(), disk: 0, ...member.central }
    entries.push([
      ...[0x50, 0x4b, 1, 2, 20, 0],
      ...fields(central),
      ...[...u16(name.length), ...u16(central.extra.length), 0, 0],
      ...[...u16(central.disk), 0, 0, 0, 0, 0, 0, ...u32(central.offset), ...name, ...central.extra],
    ])
  }
  const directory = options.directoryOffset ?? at
  const size = entries.reduce((sum, entry) => sum + entry.length, 0)
  for (const entry of entries) put(entry)
  const count = options.count ?? entries.length
  if (options.zip64) {
    const record = at
    const numbers = [...u64(count), ...u64(count), ...u64(size), ...u64(directory)]
    put([0x50, 0x4b, 6, 6, ...u64(44), 45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0, ...numbers])
    put([0x50, 0x4b, 6, 7, 0, 0, 0, 0, ...u64(record), 1, 0, 0, 0])
  }
  const [shownCount, shownSize, shownOffset] = options.zip64
    ? [0xffff, 0xffffffff, 0xffffffff]
    : [count, size, directory]
  const comment = options.comment ?? new Uint8Array()
  put([0x50, 0x4b, 5, 6, ...u16(options.disk ?? 0), 0, 0, ...u16(shownCount), ...u16(shownCount)])
  put([...u32(shownSize), ...u32(shownOffset), ...u16(comment.length), ...comment])
  return Uint8Array.from(parts.flatMap((part) => [...part]))
}

/** From `version needed` to the sizes. */
function fields(of: { flags: number; method: number; crc: number; storedSize: number; size: number }): number[] {
  const { flags, method, crc, storedSize, size } = of
  return [20, 0, ...u16(flags), ...u16(method), 0, 0, 0x21, 0, ...u32(crc), ...u32(storedSize), ...u32(size)]
}
