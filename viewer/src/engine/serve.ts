// The worker's side of the conversation. Requests wait in a queue: the highest priority first and, among equals, the newest, since that is
// what somebody is looking at now. A few run at the same time, because most of them wait for bytes.

import { TareError } from 'tare'
import type { Answer, Failure, Priority, Progress, Request } from './wire.js'
import { messageOf } from './wire.js'

export interface CallContext {
  readonly signal: AbortSignal
  progress(progress: Progress): void
  /** What takes long asks for its turn between two steps: it waits while there are requests with a higher priority. */
  turn(): Promise<void>
  /** Buffers that move to the page with the answer instead of being copied. */
  move(...buffers: readonly ArrayBufferLike[]): void
}

// biome-ignore lint/suspicious/noExplicitAny: each room types its own; the client checks names against questions and answers
export type Handlers = Readonly<Record<string, (ask: any, context: CallContext) => Promise<unknown> | unknown>>

/** The part of a worker's scope that is used here. */
export interface Port {
  postMessage(answer: Answer, moved?: readonly Transferable[]): void
  addEventListener(type: 'message', listener: (event: { readonly data: Request }) => void): void
}

/** Lets the worker take other requests before it goes on. */
export async function pause(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0))
  signal.throwIfAborted()
}

interface Waiting {
  readonly id: number
  readonly name: string
  readonly ask: unknown
  readonly priority: Priority
  readonly abort: AbortController
}

export function serveCalls(port: Port, handlers: Handlers, atOnce: number): void {
  const waiting: Waiting[] = []
  const aborts = new Map<number, AbortController>()
  const active = new Set<Waiting>()
  /** Those that wait for their turn are no longer running: their places are for others. */
  let running = 0
  let resume: (() => void)[] = []

  const isBehind = (priority: Priority): boolean =>
    waiting.some((other) => other.priority > priority) || [...active].some((other) => other.priority > priority)

  const turnOf = async ({ priority, abort: { signal } }: Waiting): Promise<void> => {
    if (!isBehind(priority)) return
    running--
    while (isBehind(priority) && !signal.aborted) {
      next()
      await new Promise<void>((again) => resume.push(again))
    }
    running++
  }

  /** Something ended, or was cancelled. */
  const wake = (): void => {
    const all = resume
    resume = []
    for (const again of all) again()
  }

  const run = async (request: Waiting): Promise<void> => {
    const { id, name, ask, abort } = request
    const moved: ArrayBufferLike[] = []
    active.add(request)
    try {
      const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined
      if (!handler) throw new Error(`no worker answers "${name}"`)
      const answer = await handler(ask, {
        signal: abort.signal,
        progress: (progress) => port.postMessage({ id, progress }),
        turn: () => turnOf(request),
        move: (...buffers) => moved.push(...buffers),
      })
      port.postMessage({ id, answer }, moved as ArrayBuffer[])
    } catch (error) {
      port.postMessage({ id, failure: failureOf(error, abort.signal.aborted) })
    } finally {
      aborts.delete(id)
      active.delete(request)
      wake()
    }
  }

  const next = (): void => {
    while (running < atOnce && waiting.length > 0) {
      const request = takeFirst(waiting)
      running++
      void run(request).finally(() => {
        running--
        next()
      })
    }
  }

  port.addEventListener('message', ({ data }) => {
    if ('abort' in data) {
      const at = waiting.findIndex(({ id }) => id === data.id)
      aborts.get(data.id)?.abort()
      wake()
      if (at < 0) return
      waiting.splice(at, 1)
      aborts.delete(data.id)
      port.postMessage({ id: data.id, failure: { message: 'cancelled', isAborted: true } })
      return
    }
    const abort = new AbortController()
    aborts.set(data.id, abort)
    waiting.push({ ...data, abort })
    next()
  })
}

/** The newest of those with the highest priority. */
function takeFirst(waiting: Waiting[]): Waiting {
  let best = waiting.length - 1
  for (let i = waiting.length - 2; i >= 0; i--) if (waiting[i]!.priority > waiting[best]!.priority) best = i
  return waiting.splice(best, 1)[0]!
}

function failureOf(error: unknown, isAborted: boolean): Failure {
  const message = messageOf(error)
  return { message, isAborted, ...(error instanceof TareError && { finding: error.finding }) }
}
