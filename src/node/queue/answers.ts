// What workers say about tasks, and handing tasks out, through all troubles of the connection: the server may be away for a while.
import { setTimeout } from 'node:timers/promises'
import { type Queue, resultStream, resultSubject, taskSubject } from './connection.js'
import { type LookMessage, type OutcomeMessage, parseOutcome, type TaskMessage } from './messages.js'

/** Milliseconds before something is tried again. */
const pause = 500

export interface Watching {
  stop(): void
}

/** Where the answers to what is handed out from now on begin. */
export async function nextAnswer({ manager }: Queue): Promise<number> {
  return (await manager.streams.info(resultStream)).state.last_seq + 1
}

/** Tells all that workers say about a job from a message on: what they said in an earlier run does not count. */
export function watchAnswers(
  queue: Queue,
  job: string,
  first: number,
  tell: (outcome: OutcomeMessage) => void,
): Watching {
  let isStopped = false
  let next = first
  const watch = async (): Promise<void> => {
    const consumer = await queue.client.consumers.get(resultStream, {
      // A list would need version 2.10 of the server.
      filter_subjects: resultSubject(job),
      deliver_policy: 'by_start_sequence',
      opt_start_seq: next,
    })
    while (!isStopped) {
      const message = await consumer.next({ expires: 2000 })
      if (!message) continue
      next = message.seq + 1
      const outcome = parseOutcome(message.string())
      if (outcome && !isStopped) tell(outcome)
    }
  }
  const keepWatching = async (): Promise<void> => {
    while (!isStopped) await watch().catch(() => setTimeout(pause))
  }
  void keepWatching()
  return {
    stop() {
      isStopped = true
    },
  }
}

/** A message that is sent twice because an answer was lost is dropped by the queue. */
export async function handOver(queue: Queue, message: TaskMessage | LookMessage, round: string): Promise<void> {
  const { job, task } = message
  await send(queue, taskSubject(job), message, { msgID: `${job}-${task}-${round}` })
}

/** Sends a message as soon as the server is there. */
export async function send(
  queue: Queue,
  subject: string,
  message: object,
  { msgID, signal }: { readonly msgID?: string | undefined; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const text = JSON.stringify(message)
  for (;;) {
    try {
      await queue.client.publish(subject, text, msgID === undefined ? {} : { msgID })
      return
    } catch (error) {
      if (queue.connection.isClosed() || signal?.aborted) throw error
      await setTimeout(pause)
    }
  }
}
