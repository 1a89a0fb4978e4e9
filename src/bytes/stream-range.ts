import { type ByteRange, checkAborted, checkRange } from './source.js'
import { releaseWindow, takeWindow } from './window.js'

/**
 * The bytes of a range, window by window, reading one window ahead. Every chunk but the last has exactly `window` bytes. A chunk is
 * valid only until the next one is asked for: its memory is used again.
 */
export async function* streamRange(
  range: ByteRange,
  window: number,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const { source, offset, length } = range
  checkRange(source, offset, length)
  if (length === 0) return
  if (!source.readInto || length <= window) {
    for (let done = 0; done < length; done += window) {
      checkAborted(signal, source.name)
      const count = Math.min(window, length - done)
      yield await source.read(offset + done, count, { signal, ahead: length - done - count })
    }
    return
  }
  const windows = [takeWindow(window), takeWindow(window)] as const
  try {
    yield* readAhead(range, window, signal, async (done) => {
      const target = windows[(done / window) % 2 === 0 ? 0 : 1].subarray(0, Math.min(window, length - done))
      await source.readInto!(offset + done, target, { signal, ahead: length - done - target.byteLength })
      return target
    })
  } finally {
    for (const each of windows) releaseWindow(each)
  }
}

/**
 * What `fill` gives for each window of a range, in order. It is asked for the next one as soon as the last one is there, while that is being
 * used; when this ends, nothing is being filled any more.
 */
export async function* readAhead(
  { source, length }: ByteRange,
  window: number,
  signal: AbortSignal | undefined,
  fill: (done: number) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  let next: Promise<Uint8Array> | undefined = fill(0)
  try {
    for (let done = 0; done < length; done += window) {
      checkAborted(signal, source.name)
      const chunk: Uint8Array = await next!
      next = done + window < length ? fill(done + window) : undefined
      next?.catch(() => {}) // a consumer that stops early must not leave an unhandled rejection
      yield chunk
    }
  } finally {
    await next?.catch(() => {}) // it still writes into its window
  }
}
