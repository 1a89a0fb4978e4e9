// A sink takes bytes in order. Only `writeLayout` talks to sinks; formats never do.
import type { ByteRange, ByteSource } from './source.js'

/** What an output will hold at some place, before it is written. */
export interface OutputPiece {
  readonly length: number
  /** Bytes that are known already. Made when asked for. */
  readonly bytes?: Uint8Array | undefined
  /** Nothing but zeros. */
  readonly isZeros?: true
  /** These bytes are patched in after all others. */
  readonly isLate?: true
  /** They are an unchanged range of this source. */
  readonly origin?: ByteRange | undefined
}

/** How many bytes of an object its store copies by itself, and how many are uploaded. */
export interface Transfer {
  readonly copied: number
  readonly uploaded: number
}

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
  /**
   * Tells what will be written, before the first byte: a sink that writes its parts in any order, or has some of them copied, plans them
   * now.
   */
  expect?(pieces: Iterable<OutputPiece>): Promise<void>
  /** The parts of a range that have to be written, in order. All others are there without it: `skip` passes them, `write` drops them. */
  needed?(start: number, end: number): readonly (readonly [start: number, end: number])[]
  skip?(length: number): void
  /** Known after `expect`. */
  readonly transfer?: Transfer | undefined
  /** Another file of the same output; it appears together with this one, or not at all. */
  sibling?(name: string): Promise<ByteSink>
  /**
   * What was written, as it will be once the output is closed: to be read before anybody else can. Nothing is written after that. Absent
   * where it is gone, as with a pipe. The caller closes it. Sinks that cannot read return what `made` does: the same bytes, made again.
   */
  reopen?(made: () => ByteSource): Promise<ByteSource>
  /** Makes the output visible under its name. */
  close(): Promise<void>
  /** Leaves no trace. Safe to call at any time, also twice. */
  abort(reason?: unknown): Promise<void>
}
