// A long question that somebody starts: its progress, a way to cancel it, and what came of it.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { CallName, Calls } from '../engine/calls.js'
import { ask } from '../engine/session.js'
import { isAborted, type Progress } from '../engine/wire.js'

export interface Working<Ask, Answer> {
  readonly answer?: Answer | undefined
  readonly error?: unknown
  /** Undefined while nothing runs. */
  readonly progress?: Progress | undefined
  start(question: Ask): Promise<Answer | undefined>
  cancel(): void
  /** Forgets the answer. */
  clear(): void
}

export function useWork<N extends CallName>(name: N): Working<Calls[N]['ask'], Calls[N]['answer']> {
  type Answer = Calls[N]['answer']
  const [state, setState] = useState<{ answer?: Answer; error?: unknown; progress?: Progress }>({})
  const running = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const start = async (question: Calls[N]['ask']): Promise<Answer | undefined> => {
    running.current?.abort()
    const abort = new AbortController()
    running.current = abort
    const isCurrent = (): boolean => running.current === abort
    setState({ progress: { done: 0, total: 0 } })
    try {
      const onProgress = (progress: Progress): void => {
        if (isCurrent()) setState({ progress })
      }
      const answer = await ask(name, question, { signal: abort.signal, onProgress })
      if (isCurrent()) setState({ answer })
      return answer
    } catch (error) {
      if (isCurrent()) setState(isAborted(error) ? {} : { error })
      return undefined
    }
  }
  return { ...state, start, cancel: () => running.current?.abort(), clear: () => setState({}) }
}
