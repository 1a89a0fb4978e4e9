export { parent, subtree } from './blake3'
export { checksum, prepareTables } from './crc32'
