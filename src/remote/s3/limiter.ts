// Several requests at once, and no more than that.

/** Runs tasks, at most `max` at once. The first failure is thrown by the next call. */
export class Limiter {
  readonly #max: number
  readonly #running = new Set<Promise<void>>()
  readonly #waiting: (() => Promise<void>)[] = []
  #failure: { readonly error: unknown } | undefined

  constructor(max: number) {
    this.#max = max
  }

  /** Starts a task; waits first while too many are running. */
  async run(task: () => Promise<void>): Promise<void> {
    while (this.#running.size >= this.#max) await Promise.race(this.#running)
    this.check()
    this.#start(task)
  }

  /** Starts a task when there is room for it. */
  queue(task: () => Promise<void>): void {
    if (this.#running.size < this.#max) this.#start(task)
    else this.#waiting.push(task)
  }

  #start(task: () => Promise<void>): void {
    const running = task()
      .catch((error: unknown) => {
        this.#failure ??= { error }
        this.#waiting.length = 0
      })
      .finally(() => {
        this.#running.delete(running)
        const next = this.#waiting.shift()
        if (next) this.#start(next)
      })
    this.#running.add(running)
  }

  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.race(this.#running)
    this.check()
  }

  /** Throws what failed. */
  check(): void {
    if (this.#failure) throw this.#failure.error
  }
}
