// Retries transient failures, with growing pauses. Others become an error with a code.
import { checkAborted } from '../bytes/index.js'
import { findingOf, TareError } from '../errors/index.js'
import { remoteCodes } from './codes.js'
import { nameOf, type RequestSettings, StatusError } from './request.js'

/** A transient failure; the bytes so far are good. */
export class BrokenConnection extends Error {}

export async function withRetries<T>(
  url: URL,
  offset: number,
  options: RequestSettings,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const tries = options.tries ?? 4
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(signal)
    } catch (error) {
      if (error instanceof TareError) throw error
      checkAborted(signal, nameOf(url, options))
      const mayPass = !(error instanceof StatusError) || error.mayPass
      if (!mayPass || attempt >= tries) throw asTareError(error, nameOf(url, options), offset, attempt)
      const wait = error instanceof StatusError ? error.retryAfter : undefined
      await pause(Math.min(wait ?? (options.backoff ?? 250) * 2 ** (attempt - 1), 30_000), signal)
    }
  }
}

function asTareError(error: unknown, file: string, offset: number, attempts: number): TareError {
  const times = attempts === 1 ? '' : ` (tried ${attempts} times)`
  if (error instanceof StatusError) {
    return new TareError(findingOf(remoteCodes.status, { file, offset, message: `${error.message}${times}` }), {
      cause: error,
    })
  }
  const cause =
    error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error.message) : String(error)
  return new TareError(findingOf(remoteCodes.unreachable, { file, offset, message: `${cause}${times}` }), {
    cause: error,
  })
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds)
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })
}
