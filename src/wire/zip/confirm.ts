// An archive whose local headers were passed over: each is compared with the directory before bytes of its member are given out.
import type { ByteSource, ReadOptions } from '../../bytes/index.js'
import { lowerBound } from '../../bytes/lower-bound.js'
import type { ZipMember } from './member.js'

/** Members in the order of the file, and what compares the header of one of them. */
export interface PassedOver {
  readonly members: readonly ZipMember[]
  /** `ahead` is how many bytes behind the header will be read next. */
  confirm(member: ZipMember, ahead: number): Promise<void>
}

/** Neither other threads nor a store can read it, since they would not compare. */
export function confirmingSource(source: ByteSource, { members, confirm }: PassedOver): ByteSource {
  const asked = new Map<ZipMember, Promise<void>>()
  const confirmAll = async (start: number, end: number, { ahead = 0 }: ReadOptions = {}): Promise<void> => {
    const first = lowerBound(members.length, (i) => members[i]!.dataOffset + members[i]!.storedSize, start + 1)
    for (let i = first; i < members.length && members[i]!.dataOffset < end; i++) {
      const member = members[i]!
      if (!asked.has(member)) asked.set(member, confirm(member, end + ahead - member.dataOffset))
      await asked.get(member)
    }
  }
  return {
    name: source.name,
    size: source.size,
    ...(source.version !== undefined && { version: source.version }),
    async read(offset, length, options) {
      await confirmAll(offset, offset + length, options)
      return source.read(offset, length, options)
    },
    ...(source.readInto && {
      async readInto(offset, target, options) {
        await confirmAll(offset, offset + target.byteLength, options)
        await source.readInto!(offset, target, options)
      },
    }),
    close: () => source.close(),
  }
}
