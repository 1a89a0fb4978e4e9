/** FNV-1a with 32 bits: fast and simple, for tables of names. It protects against nothing; collisions are easy to find. */
export function fnv1a32(bytes: Uint8Array): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < bytes.byteLength; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
  return hash >>> 0
}
