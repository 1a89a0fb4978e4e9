// Compares stored bytes directly: as fast as hashing one side, and it finds the first difference as well.
import { defaultWindow } from '../bytes/index.js'
import { firstDifference } from '../kernels/equal-bytes.js'
import type { Payload } from '../model/index.js'
import { isSameRange } from '../model/payload.js'
import { sideBySide } from '../transforms/side-by-side.js'

export interface Watch {
  readonly signal?: AbortSignal | undefined
  /** Adds bytes that were read, both sides together. */
  advance?(bytes: number): void
}

/** Where two payloads of the same length first differ, or -1. */
export async function firstDifferentByte(a: Payload, b: Payload, watch: Watch = {}): Promise<number> {
  if (isSameRange(a, b)) return -1
  for await (const pair of sideBySide(a, b, defaultWindow, watch.signal)) {
    const found = firstDifference(pair.a, pair.b)
    watch.advance?.(2 * pair.a.byteLength)
    if (found >= 0) return pair.offset + found
  }
  return -1
}
