// What can happen to the process from outside: a signal, a reader that goes away, a mistake of ours.
import type { Console } from './console.js'
import { UsageError } from './status.js'

const exitStatus = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

const cleanUps = new Set<() => void>()

/** What to do before the process ends early, in the order of asking; known only once the library is loaded. Returns what takes it back. */
export function onEarlyExit(action: () => void): () => void {
  cleanUps.add(action)
  return () => cleanUps.delete(action)
}

function cleanUp(): void {
  for (const action of cleanUps) action()
}

/** A signal cancels the work, removes unfinished output and ends the process with the status that shells expect. */
export function installSignals(): AbortSignal {
  const controller = new AbortController()
  for (const [name, status] of Object.entries(exitStatus)) {
    process.on(name, () => {
      controller.abort()
      cleanUp()
      process.exit(status)
    })
  }
  return controller.signal
}

/** Nobody should see a stack trace unless they asked for one. */
export function installLastResort(console: Console): void {
  const end = (error: unknown): void => {
    cleanUp()
    if (isClosedPipe(error)) process.exit(0)
    console.complain(describeFailure(error))
    process.exit(2)
  }
  process.on('uncaughtException', end)
  process.on('unhandledRejection', end)
  process.stdout.on('error', (error) => {
    cleanUp()
    if (isClosedPipe(error)) process.exit(0)
    const code = (error as NodeJS.ErrnoException).code === 'ENOSPC' ? 'io/no-space' : 'io/failed'
    console.complain(`standard output: ${error.message} (${code})`)
    process.exit(2)
  })
  process.stderr.on('error', () => {}) // nobody is there to be told
}

/** The reader of our output has seen enough: that is fine. */
export function isClosedPipe(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    const code = (each as NodeJS.ErrnoException).code
    if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return true
  }
  return false
}

export function describeFailure(error: unknown): string {
  if (error instanceof UsageError) return error.message
  const message = error instanceof Error ? error.message : String(error)
  if (process.env.TARE_DEBUG === '1' && error instanceof Error) return error.stack ?? message
  return `${message} (unexpected; TARE_DEBUG=1 shows where)`
}
