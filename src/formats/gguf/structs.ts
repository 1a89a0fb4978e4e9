// The fixed fields at the beginning of a file, and the limits of the format.
import { raw, struct, u32, u64 } from '../../bytes/index.js'

export const magic = Uint8Array.of(0x47, 0x47, 0x55, 0x46)
export const preamble = struct({ magic: raw(4), version: u32 })
export const counts = struct({ tensorCount: u64, metadataKvCount: u64 })
/** Of version 1. */
export const shortCounts = struct({ tensorCount: u32, metadataKvCount: u32 })
export const defaultAlignment = 32
/** More would only blow up files, or make sums overflow in other readers. */
export const mostAlignment = 1 << 20
export const alignmentKey = 'general.alignment'
export const mostDims = 4
