// Everything that the portable entry has, and what only Node can do: files, standard input and output, faster digests.
import { registerNodeDigests } from './node/digests.js'

export * from './index.js'
export * from './node/index.js'

registerNodeDigests()
