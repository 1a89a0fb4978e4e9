// How much memory the engine takes beyond what is alive. It lets garbage pile up for the sake of speed; a model of a hundred thousand tensors
// is then twice as large as its index.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: (() => void) | undefined

/**
 * Runs a full garbage collection now, and has the engine wait for less new garbage before it collects by itself: by default it lets the heap
 * double. The engine offers a collection only behind a flag, which takes effect for contexts made after it.
 */
export function collectGarbage(): void {
  if (!collect) {
    setFlagsFromString('--heap-growing-percent=20')
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
}

/** The space for new objects stays as it is, about 3 MB; otherwise it grows to 48 MB while an index is read. */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}
