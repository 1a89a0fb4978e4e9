// The kit with what Node adds to it, for the command.
import { registerNodeBytes } from './node/bytes.js'
import { registerNodeDigests } from './node/digests.js'
import { registerNodeZstd } from './node/zstd.js'

export * from './kit.js'
export * from './node/index.js'

registerNodeBytes()
registerNodeDigests()
registerNodeZstd()
