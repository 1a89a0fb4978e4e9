import type { Watch } from './compare-bytes.js'

export interface ProgressOptions {
  readonly signal?: AbortSignal | undefined
  /** In stored bytes of both models. */
  readonly onProgress?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

export interface Tracker {
  /** Begins something that takes this many bytes, however many of them are read, and how often. What was before it is done. */
  step(path: string, size: number): Watch
}

export function trackProgress(total: number, { signal, onProgress }: ProgressOptions): Tracker {
  let end = 0
  return {
    step(path, size) {
      let done = end
      end += size
      const last = end
      onProgress?.({ done, total, path })
      return {
        signal,
        advance(bytes) {
          done = Math.min(done + bytes, last)
          onProgress?.({ done, total, path })
        },
      }
    },
  }
}
