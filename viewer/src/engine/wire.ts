// What travels between the page and its workers. Every request has an id; an abort names it, and so does each answer.
import type { Finding } from 'tare'

/** Views before questions, questions before what is merely useful later. */
export const priorities = { background: 0, question: 1, view: 2 } as const
export type Priority = (typeof priorities)[keyof typeof priorities]

export interface Progress {
  readonly done: number
  readonly total: number
}

export type Request =
  | { readonly id: number; readonly name: string; readonly ask: unknown; readonly priority: Priority }
  | { readonly id: number; readonly abort: true }

/** Errors of the library have a finding; everything else that fails has its message. */
export interface Failure {
  readonly message: string
  readonly finding?: Finding | undefined
  readonly isAborted: boolean
  /** The worker died before it could answer. */
  readonly isLost?: boolean | undefined
}

export type Answer =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly failure: Failure }
  | { readonly id: number; readonly progress: Progress }

/** What a request ends with when it fails. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly finding: Finding | undefined
  readonly isAborted: boolean
  readonly isLost: boolean

  constructor({ message, finding, isAborted, isLost = false }: Failure) {
    super(message)
    this.finding = finding
    this.isAborted = isAborted
    this.isLost = isLost
  }
}

export const isLost = (error: unknown): boolean => error instanceof RequestError && error.isLost

export const isAborted = (error: unknown): boolean => error instanceof RequestError && error.isAborted

/** What anything that was thrown says, without the name of its class. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** A finding to show for anything that was thrown. */
export function findingFrom(error: unknown, file: string): Finding {
  if (error instanceof RequestError && error.finding) return error.finding
  return { code: 'viewer/failed', severity: 'error', file, message: messageOf(error) }
}
