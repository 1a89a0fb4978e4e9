// The page's side of the conversation. A worker that dies is replaced; what it was asked then fails, and the listener sets the new one up.
import { type Answer, type Failure, type Priority, type Progress, priorities, RequestError } from './wire.js'

export interface AskOptions {
  readonly signal?: AbortSignal | undefined
  readonly priority?: Priority | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
  readonly move?: readonly Transferable[] | undefined
}

interface Pending {
  readonly settle: (answer: unknown) => void
  readonly fail: (failure: Failure) => void
  readonly onProgress: AskOptions['onProgress']
}

export class WorkerClient {
  #worker: Worker
  #nextId = 1
  readonly #pending = new Map<number, Pending>()
  readonly #start: () => Worker
  readonly #onReplaced: () => void

  constructor(start: () => Worker, onReplaced: () => void = () => {}) {
    this.#start = start
    this.#onReplaced = onReplaced
    this.#worker = this.#listen(start())
  }

  /** How many requests have no answer yet. */
  get load(): number {
    return this.#pending.size
  }

  ask(name: string, ask: unknown, options: AskOptions = {}): Promise<unknown> {
    const { signal, priority = priorities.question, onProgress, move = [] } = options
    if (signal?.aborted) return Promise.reject(new RequestError({ message: 'cancelled', isAborted: true }))
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      const abort = (): void => this.#worker.postMessage({ id, abort: true })
      const done = (): void => {
        this.#pending.delete(id)
        signal?.removeEventListener('abort', abort)
      }
      this.#pending.set(id, {
        onProgress,
        settle(answer) {
          done()
          resolve(answer)
        },
        fail(failure) {
          done()
          reject(new RequestError(failure))
        },
      })
      signal?.addEventListener('abort', abort)
      this.#worker.postMessage({ id, name, ask, priority }, [...move])
    })
  }

  /** Ends the worker as if it had died: for what does not answer any more. */
  replace(why: string): void {
    this.#worker.terminate()
    for (const { fail } of [...this.#pending.values()]) fail({ message: why, isAborted: false, isLost: true })
    this.#worker = this.#listen(this.#start())
    this.#onReplaced()
  }

  /** Gives its memory back; nothing may be asked any more. */
  close(): void {
    this.#worker.terminate()
  }

  #listen(worker: Worker): Worker {
    worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
      const pending = this.#pending.get(data.id)
      if ('progress' in data) pending?.onProgress?.(data.progress)
      else if ('failure' in data) pending?.fail(data.failure)
      else pending?.settle(data.answer)
    })
    worker.addEventListener('error', (event) => {
      event.preventDefault()
      // One that was replaced already may have more to complain about.
      if (worker === this.#worker) this.replace(`the worker failed: ${event.message ?? 'its file cannot be loaded'}`)
    })
    worker.addEventListener('messageerror', () => this.replace('the worker gave an answer that cannot be read'))
    return worker
  }
}
