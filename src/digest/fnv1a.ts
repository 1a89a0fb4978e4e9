/** FNV-1a with 32 bits: fast and simple, for tables of names. Not cryptographic: collisions are easy to find. */
export function fnv1a32(bytes: Uint8Array, start = 0, end = bytes.byteLength): number {
  let hash = 0x811c9dc5
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
  return hash >>> 0
}
