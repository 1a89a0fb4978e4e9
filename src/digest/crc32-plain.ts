const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) !== 0 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  return crc
})

/** CRC-32 without WebAssembly: goes on from `crc`, 0 at the beginning. */
export function plainCrc32(bytes: Uint8Array, crc: number): number {
  let rest = ~crc
  for (const byte of bytes) rest = table[(rest ^ byte) & 255]! ^ (rest >>> 8)
  return ~rest >>> 0
}
