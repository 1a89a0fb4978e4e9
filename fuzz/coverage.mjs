// Which blocks of tare's own code have run, from V8. Asking takes milliseconds, so it is asked about many inputs at once.
import { Session } from 'node:inspector'

export class Coverage {
  #session = new Session()
  #seen = new Set()

  async start() {
    this.#session.connect()
    await this.#post('Profiler.enable')
    await this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** How many blocks have run since the last call that never had before. */
  async news() {
    const { result } = await this.#post('Profiler.takePreciseCoverage')
    const before = this.#seen.size
    for (const { url, functions } of result) {
      if (!url.includes('/dist/')) continue
      for (const { ranges } of functions)
        for (const { startOffset, endOffset, count } of ranges)
          if (count > 0) this.#seen.add(`${url}:${startOffset}:${endOffset}`)
    }
    return this.#seen.size - before
  }

  get blocks() {
    return this.#seen.size
  }

  #post(method, params) {
    return new Promise((resolve, reject) =>
      this.#session.post(method, params, (error, value) => (error ? reject(error) : resolve(value))),
    )
  }
}
