// What is fixed about a file, and the limits of the format.
import { struct, u64 } from '../../bytes/index.js'

export const prefix = struct({ headerLength: u64 })
/** The reference library refuses longer headers. */
export const maxHeaderLength = 100_000_000
export const metadataKey = '__metadata__'
/** The flag that leaves room in the header. */
export const slackOption = 'header-slack'
