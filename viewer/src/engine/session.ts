// The session worker: it has the models open and answers everything but tiles and checks.
import type { CallName, Calls } from './calls.js'
import { type AskOptions, WorkerClient } from './client.js'
import workerAddress from './session-worker.ts?worker&url'
import { startWorker } from './trusted-address.js'

const replaced = new Set<() => void>()

/** Called when a worker died and a new one, which knows nothing, took its place. */
export const onSessionReplaced = (listener: () => void): void => void replaced.add(listener)

let session: WorkerClient | undefined
/** Runs the same script without any models, for what takes long and needs none; the session goes on answering. */
let apart: WorkerClient | undefined
const askedApart: ReadonlySet<CallName> = new Set(['verify'])

export function ask<N extends CallName>(
  name: N,
  question: Calls[N]['ask'],
  options?: AskOptions,
): Promise<Calls[N]['answer']> {
  const client = clientFor(name)
  const answer = client.ask(name, question, options) as Promise<Calls[N]['answer']>
  if (client === apart) answer.finally(() => setTimeout(closeApart, keptFor)).catch(() => {})
  return answer
}

/** In milliseconds. Models that are opened one after the other are checked by the same worker. */
const keptFor = 2000

/** What a check needed is not kept in memory for longer. */
function closeApart(): void {
  if (apart?.load !== 0) return
  apart.close()
  apart = undefined
}

function clientFor(name: CallName): WorkerClient {
  if (askedApart.has(name)) {
    apart ??= new WorkerClient(() => startWorker(workerAddress))
    return apart
  }
  session ??= new WorkerClient(
    () => startWorker(workerAddress),
    () => {
      for (const listener of replaced) listener()
    },
  )
  return session
}
