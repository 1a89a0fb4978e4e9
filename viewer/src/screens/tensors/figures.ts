// Statistics as they are computed: of what is on the screen first, of everything when somebody asks for it.
import { signal } from '@preact/signals'
import type { NoFigures, TensorFigures } from '../../engine/rooms/table/figures.js'
import { ask } from '../../engine/session.js'
import { isAborted, type Progress, priorities } from '../../engine/wire.js'

type Known = TensorFigures | NoFigures

/** Counts up with each batch, so that rows show what came. */
export const figuresVersion = signal(0)
export const figuresProgress = signal<Progress | undefined>(undefined)

const cache = new Map<string, Known>()
/** The worker keeps all of them; this is for the rows on the screen. */
const maxCached = 20_000

export const knownFigures = (model: number, index: number): Known | undefined => cache.get(`${model}:${index}`)

function keep(model: number, index: number, figures: Known): void {
  if (cache.size >= maxCached) cache.clear()
  cache.set(`${model}:${index}`, figures)
}

const batch = 8

export async function computeFigures(
  model: number,
  indexes: readonly number[],
  signal: AbortSignal,
  priority: (typeof priorities)[keyof typeof priorities] = priorities.question,
): Promise<void> {
  for (let at = 0; at < indexes.length; at += batch) {
    const some = indexes.slice(at, at + batch)
    const found = await ask('figures', { model, indexes: some }, { signal, priority })
    for (const [i, figures] of found.entries()) keep(model, some[i]!, figures)
    figuresVersion.value++
  }
}

let sweep: AbortController | undefined

export async function computeAllFigures(model: number, tensors: number): Promise<void> {
  sweep?.abort()
  const abort = new AbortController()
  sweep = abort
  const step = 64
  try {
    for (let at = 0; at < tensors && !abort.signal.aborted; at += step) {
      figuresProgress.value = { done: at, total: tensors }
      const indexes = Array.from({ length: Math.min(step, tensors - at) }, (_, i) => at + i)
      await computeFigures(model, indexes, abort.signal, priorities.background)
    }
  } catch (error) {
    if (!isAborted(error)) throw error
  } finally {
    if (sweep === abort) {
      figuresProgress.value = undefined
      sweep = undefined
    }
  }
}

export const stopFigures = (): void => sweep?.abort()
