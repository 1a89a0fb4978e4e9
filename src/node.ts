// Everything that the portable entry has, and what only Node can do: files, standard input and output, faster digests.
import { registerNodeBytes } from './node/bytes.js'
import { registerNodeDigests } from './node/digests.js'
import { registerNodeZstd } from './node/zstd.js'

export * from './index.js'
export * from './node/index.js'

registerNodeBytes()
registerNodeDigests()
registerNodeZstd()
