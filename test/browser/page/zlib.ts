// Stands for node:zlib in a page: CRC-32 bit by bit, which nothing of ours does.

export function crc32(bytes: Uint8Array, start = 0): number {
  let crc = ~start
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}
