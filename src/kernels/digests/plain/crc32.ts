// CRC-32 in plain TypeScript, one byte after another.

let table: Uint32Array | undefined

function makeTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) !== 0 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
    return crc
  })
}

/** Continues the checksum `crc`, 0 at the start. */
export function crc32Plain(bytes: Uint8Array, crc: number): number {
  table ??= makeTable()
  let rest = ~crc
  for (const byte of bytes) rest = table[(rest ^ byte) & 255]! ^ (rest >>> 8)
  return ~rest >>> 0
}
