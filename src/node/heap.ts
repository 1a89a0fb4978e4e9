// How much memory the engine takes beyond what is alive. It lets garbage pile up for the sake of speed; a model of a hundred thousand tensors
// is then twice as large as its index.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: (() => void) | undefined

/** Runs a full garbage collection now. The engine has one to offer only behind a flag, which takes effect for contexts made after it. */
export function collectGarbage(): void {
  if (!collect) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
}

/** The space for new objects stays as it is, about 3 MB; otherwise it grows to 48 MB while an index is read. */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}
