// When the first model is open and nothing else is to be done, what will be asked for next is made ready: the two screens of tensors, and workers
// that read them.
import { effect } from '@preact/signals'
import { prepareTensorWorkers } from '../engine/tensor-workers.js'
import { models } from '../state/models.js'
import { screenNamed } from './screens.js'

export function warmUpWhenOpen(): void {
  let isDone = false
  effect(() => {
    if (isDone || !models.value.some(({ status }) => status === 'open')) return
    isDone = true
    // Not every browser knows when it is idle.
    if ('requestIdleCallback' in window) requestIdleCallback(warmUp, { timeout: 1000 })
    else setTimeout(warmUp, 200)
  })
}

function warmUp(): void {
  prepareTensorWorkers()
  // Who goes there sees whether it fails.
  for (const id of ['tensors', 'tensor'])
    screenNamed(id)
      ?.load()
      .catch(() => {})
}
