// The session worker: it has the models open and answers everything but tiles.
import type { CallName, Calls } from './calls.js'
import { type AskOptions, WorkerClient } from './client.js'
import workerAddress from './session-worker.ts?worker&url'
import { startWorker } from './trusted-address.js'

const replaced = new Set<() => void>()

/** Called when a worker died and a new one, which knows nothing, took its place. */
export const onSessionReplaced = (listener: () => void): void => void replaced.add(listener)

let client: WorkerClient | undefined

export function ask<N extends CallName>(
  name: N,
  question: Calls[N]['ask'],
  options?: AskOptions,
): Promise<Calls[N]['answer']> {
  client ??= new WorkerClient(
    () => startWorker(workerAddress),
    () => {
      for (const listener of replaced) listener()
    },
  )
  return client.ask(name, question, options) as Promise<Calls[N]['answer']>
}
