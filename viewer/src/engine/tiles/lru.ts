// A cache with a budget in bytes that lets go of what was not used for longest.

interface Entry<T> {
  readonly value: T
  readonly bytes: number
}

export class LruCache<T> {
  readonly #entries = new Map<string, Entry<T>>()
  readonly #budget: number
  readonly #onDrop: (value: T) => void
  #bytes = 0

  constructor(budget: number, onDrop: (value: T) => void = () => {}) {
    this.#budget = budget
    this.#onDrop = onDrop
  }

  get bytes(): number {
    return this.#bytes
  }

  has(key: string): boolean {
    return this.#entries.has(key)
  }

  /** Counts as a use. */
  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: string, value: T, bytes: number): void {
    this.delete(key)
    this.#entries.set(key, { value, bytes })
    this.#bytes += bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#budget || oldest === key) return
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    this.#entries.delete(key)
    this.#bytes -= entry.bytes
    this.#onDrop(entry.value)
  }

  clear(): void {
    for (const key of [...this.#entries.keys()]) this.delete(key)
  }
}
