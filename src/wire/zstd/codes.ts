import { defineCodes, error } from '../../errors/index.js'

export const zstdCodes = defineCodes('zstd', {
  unavailable: error(
    'What packs and unpacks zstd data cannot run here. It is WebAssembly, which the policy of a page may forbid.',
  ),
})
