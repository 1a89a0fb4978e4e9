// What is fixed about a file, and the limits of the format.
import { struct, u64 } from '../../bytes/index.js'

export const prefix = struct({ headerLength: u64 })

/** The length of the header, from the first bytes of a file. */
export const headerLengthIn = (head: Uint8Array): bigint =>
  new DataView(head.buffer, head.byteOffset).getBigUint64(0, true)

/** A set begins with its index, which is text. The length that a file begins with has zeros at its end. */
export const startsLikeText = (head: Uint8Array): boolean => head[prefix.size - 1] !== 0
/** The reference library refuses longer headers. */
export const maxHeaderLength = 100_000_000
export const metadataKey = '__metadata__'
/** The flag that leaves room in the header. */
export const slackOption = 'header-slack'
