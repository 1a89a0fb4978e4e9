// A sink takes bytes in order. Only `writeLayout` talks to sinks; formats never do.
import type { ByteSource } from './source.js'

/** Where bytes go to, in order. A function that returns one can be the output of `convert`. */
export interface ByteSink {
  readonly name: string
  readonly position: number
  /** Whether `patch` works; a pipe cannot go back. */
  readonly canPatch: boolean
  /** When the promise settles, the caller may use the memory of `bytes` again. */
  write(bytes: Uint8Array): Promise<void>
  /**
   * The same, done when it returns: for a caller that has nothing to do meanwhile, since the way to a thread and back costs more than the
   * writing itself where a processor sleeps in between. False: this sink would rather not, nothing was written.
   */
  writeNow?(bytes: Uint8Array): boolean
  /** Overwrites bytes that were written before. Only where `canPatch` is true. */
  patch(offset: number, bytes: Uint8Array): Promise<void>
  /** The same, done when it returns, for bytes that are still in memory. False: they are not, nothing was patched. */
  patchNow?(offset: number, bytes: Uint8Array): boolean
  /** Another file of the same output; it appears together with this one, or not at all. */
  sibling?(name: string): Promise<ByteSink>
  /**
   * What was written, as it will be once the output is closed: to be read before anybody else can. Nothing is written after that. Absent
   * where it is gone, as with a pipe. The caller closes it.
   */
  reopen?(): Promise<ByteSource>
  /** Makes the output visible under its name. */
  close(): Promise<void>
  /** Leaves no trace. Safe to call at any time, also twice. */
  abort(reason?: unknown): Promise<void>
}
