// Reads two payloads in step, window by window.
import { checkAborted } from '../bytes/index.js'
import { failWith, ioCodes } from '../errors/index.js'
import type { Payload } from '../model/index.js'
import { fileOf } from './map-elements.js'

export interface WindowPair {
  readonly a: Uint8Array
  readonly b: Uint8Array
  /** The offset of these bytes in the payloads. */
  readonly offset: number
}

/**
 * Both payloads, which must have the same length, in pairs of equal length. A pair is valid only until the next one is requested. The two
 * sides are read at the same time.
 */
export async function* sideBySide(
  a: Payload,
  b: Payload,
  window: number,
  signal?: AbortSignal,
): AsyncGenerator<WindowPair, void, void> {
  const [left, right] = [a, b].map((each) => each.chunks(window, signal)[Symbol.asyncIterator]()) as [
    AsyncIterator<Uint8Array>,
    AsyncIterator<Uint8Array>,
  ]
  let offset = 0
  try {
    for (;;) {
      checkAborted(signal, fileOf(a))
      const [x, y] = await Promise.all([left.next(), right.next()])
      if (x.done || y.done || x.value.byteLength !== y.value.byteLength) {
        if (x.done && y.done && offset === a.byteLength && offset === b.byteLength) return
        const short = offset + (x.done ? 0 : x.value.byteLength) < a.byteLength ? a : b
        const message = `a payload of ${short.byteLength} bytes did not give all of them`
        failWith(ioCodes['short-read'], { file: fileOf(short), message })
      }
      yield { a: x.value, b: y.value, offset }
      offset += x.value.byteLength
    }
  } finally {
    await Promise.all([left.return?.(), right.return?.()])
  }
}
