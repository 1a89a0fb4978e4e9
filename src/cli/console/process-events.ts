// What can end the process early: a signal, a reader of the output that goes away, a bug.
import type { EventEmitter } from 'node:events'
import type { UnfinishedCounts } from '../../kit-node.js'
import { type Status, UsageError } from '../status.js'
import type { Console } from './console.js'

const exitStatus = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

const cleanUps = new Set<() => void>()
let isDrawing = false
let isArmed = false
let abort = (): void => {}

/** Registers what to do before the process ends early. Returns a function that takes it back. */
export function onEarlyExit(action: () => void): () => void {
  cleanUps.add(action)
  rearm()
  return () => {
    cleanUps.delete(action)
    rearm()
  }
}

/**
 * Temporary files are removed when the process ends, and uploads are given up, which takes requests; so while there are any, a signal must not
 * end it at once.
 */
export function followUnfinished(
  changes: EventEmitter<{ change: [UnfinishedCounts] }>,
  giveUp: () => Promise<void>,
): void {
  giveUpUploads = giveUp
  // A process can run several verbs, and follows the counts once.
  changes.off('change', takeCounts).on('change', takeCounts)
}

function takeCounts(counts: UnfinishedCounts): void {
  unfinished = counts
  rearm()
}

let unfinished: UnfinishedCounts = { files: 0, uploads: 0 }
let giveUpUploads: () => Promise<void> = async () => {}

function cleanUp(): void {
  for (const action of cleanUps) action()
}

/**
 * A signal cancels the work, removes unfinished output and ends the process with the status that shells expect. A handler would run only
 * between two pieces of work; so while there is nothing to clean up none is installed, and a signal ends even a long computation at once.
 */
export function installSignals(console: Pick<Console, 'progress'>): AbortSignal {
  const controller = new AbortController()
  abort = () => {
    controller.abort()
    console.progress.interrupt()
  }
  console.progress.onChange = (isVisible) => {
    isDrawing = isVisible
    rearm()
  }
  return controller.signal
}

function rearm(): void {
  const isNeeded = cleanUps.size > 0 || unfinished.files > 0 || unfinished.uploads > 0 || isDrawing
  if (isNeeded === isArmed) return
  isArmed = isNeeded
  for (const name of Object.keys(exitStatus)) {
    if (isNeeded) process.on(name, onSignal)
    else process.off(name, onSignal)
  }
}

function onSignal(name: keyof typeof exitStatus): void {
  const leave = (): never => process.exit(exitStatus[name])
  // A second signal does not wait.
  if (unfinished.uploads === 0 || isLeaving) {
    abort()
    cleanUp()
    leave()
  }
  isLeaving = true
  setTimeout(leave, maxFarewell)
  const done = giveUpUploads()
  abort()
  cleanUp()
  void done.finally(leave)
}

/** Milliseconds that a store has to forget an upload. */
const maxFarewell = 5000
let isLeaving = false

/** From now on bytes of a model go to standard output, and a reader that leaves early misses some of them. */
export function expectAllBytes(): void {
  closedPipeStatus = 2
}

let closedPipeStatus: Status = 0

/** The status when the reader of standard output has gone away. For text that is fine: `head` wants only the beginning. */
export function endAtClosedPipe(console: Console): Status {
  if (closedPipeStatus !== 0) console.complain('standard output was closed before all bytes were written')
  return closedPipeStatus
}

/** Reports what no other code caught, without a stack trace unless TARE_DEBUG asks for one. */
export function installLastResort(console: Console): void {
  const end = (error: unknown): void => {
    cleanUp()
    if (isClosedPipe(error)) process.exit(endAtClosedPipe(console))
    console.complain(describeFailure(error))
    process.exit(2)
  }
  process.on('uncaughtException', end)
  process.on('unhandledRejection', end)
  process.stdout.on('error', (error) => {
    cleanUp()
    if (isClosedPipe(error)) process.exit(endAtClosedPipe(console))
    const code = (error as NodeJS.ErrnoException).code === 'ENOSPC' ? 'io/no-space' : 'io/failed'
    console.complain(`standard output: ${error.message} (${code})`)
    process.exit(2)
  })
  process.stderr.on('error', () => {}) // there is no other place to report it
}

/** Whether the reader of our output has gone away. */
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
