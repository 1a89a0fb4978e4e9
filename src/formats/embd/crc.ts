import { digestOf } from '../../digest/index.js'

/** For headers and the like; whole sections are summed up while they stream by. */
export async function crc32(bytes: Uint8Array): Promise<number> {
  return readCrc32(await digestOf('crc32', bytes))
}

/** Digests are handed out as they are printed, with the highest byte first. */
export const readCrc32 = (digest: Uint8Array): number => new DataView(digest.buffer, digest.byteOffset).getUint32(0)

/** A checksum or hash, or a set of flags, as messages show it. */
export const hex = (value: number): string => `0x${value.toString(16).padStart(8, '0')}`
