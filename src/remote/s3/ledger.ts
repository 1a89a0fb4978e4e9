// What is known about uploads that were interrupted. The store has their parts; the ledger says which upload it was, and what it was of.
import type { OutputPiece } from '../../bytes/index.js'
import { createHasher } from '../../digest/index.js'
import type { Part } from './parts.js'

/** Remembers uploads beyond the process, so that a later run can go on with them. */
export interface UploadLedger {
  /** The upload of an object that an earlier run did not complete, and whether it was of the same parts. */
  find(name: string, plan: string): Promise<{ readonly upload: string; readonly isSame: boolean } | undefined>
  remember(name: string, upload: string, plan: string): Promise<void>
  forget(name: string): Promise<void>
}

/** Identifies the parts of an upload and what is in them. Undefined where that cannot be told. */
export async function digestOfPlan(
  pieces: readonly OutputPiece[],
  parts: readonly Part[],
  identity: string | undefined,
): Promise<string | undefined> {
  if (identity === undefined) return undefined
  const hasher = await createHasher('sha256')
  const add = (value: unknown): void => hasher.update(new TextEncoder().encode(`${JSON.stringify(value)}\n`))
  add(identity)
  for (const { length, bytes, isZeros, isLate, origin } of pieces) {
    const { name, size, stored } = origin?.source ?? {}
    add([length, isZeros, isLate, origin && [name, size, stored?.etag, origin.offset]])
    if (bytes) hasher.update(bytes)
  }
  for (const { start, end, copy } of parts) add([start, end, copy?.offset])
  return Array.from(hasher.digest(), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
