/** A member of an archive: what the directory says about it, and where its data are. */
export class ZipMember {
  readonly name: string
  /** Bytes of the name in the directory. */
  readonly nameLength: number
  readonly isDeflated: boolean
  readonly flags: number
  readonly crc32: number
  /** Bytes in the file. */
  readonly storedSize: number
  /** Bytes of content. */
  readonly size: number
  /** Where its local header starts. */
  readonly headerOffset: number
  /** Where its entry in the directory starts. */
  readonly entryOffset: number
  /** Where its data start in the file; NaN until its local header was read. */
  dataOffset = Number.NaN

  constructor(entry: Omit<ZipMember, 'dataOffset' | 'path'>) {
    this.name = entry.name
    this.nameLength = entry.nameLength
    this.isDeflated = entry.isDeflated
    this.flags = entry.flags
    this.crc32 = entry.crc32
    this.storedSize = entry.storedSize
    this.size = entry.size
    this.headerOffset = entry.headerOffset
    this.entryOffset = entry.entryOffset
  }

  /** `members["x.npy"]`; made when a message needs it, since an archive can have a hundred thousand members. */
  get path(): string {
    return memberPath(this.name)
  }
}

export const memberPath = (name: string): string => `members[${JSON.stringify(name)}]`
