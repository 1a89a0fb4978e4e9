// An answer of the session worker as state of a component: asked again when the question changes, and cancelled when nobody waits for it.
import { useEffect, useState } from 'preact/hooks'
import type { CallName, Calls } from '../engine/calls.js'
import type { AskOptions } from '../engine/client.js'
import { ask } from '../engine/session.js'
import { isAborted } from '../engine/wire.js'

export interface Asked<T> {
  /** Of the last question that was answered; stays while the next one is under way. */
  readonly answer?: T | undefined
  readonly error?: unknown
  readonly isLoading: boolean
}

/** Undefined as a question asks nothing. */
export function useAnswer<N extends CallName>(
  name: N,
  question: Calls[N]['ask'] | undefined,
  options: Pick<AskOptions, 'priority' | 'onProgress'> = {},
): Asked<Calls[N]['answer']> {
  const [state, setState] = useState<Asked<Calls[N]['answer']>>({ isLoading: question !== undefined })
  const key = question === undefined ? undefined : JSON.stringify(question)
  useEffect(() => {
    if (question === undefined) return
    const abort = new AbortController()
    setState((before) => ({ ...before, isLoading: true }))
    ask(name, question, { ...options, signal: abort.signal }).then(
      (answer) => setState({ answer, isLoading: false }),
      (error) => {
        if (!isAborted(error)) setState({ error, isLoading: false })
      },
    )
    return () => abort.abort()
  }, [name, key])
  return state
}
