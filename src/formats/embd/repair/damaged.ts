import type { ByteSource } from '../../../bytes/index.js'
import type { Finding } from '../../../errors/index.js'
import type { ReadContext } from '../../../model/index.js'
import type { SectionedFile } from '../sectioned/read.js'
import { type IndexEntry, readTensorIndex, totalNameLength } from '../sectioned/tensor-index.js'
import { descriptor, type Header } from '../structs.js'

/** A sectioned file as it was read, with everything that is wrong with it. */
export interface Damaged {
  readonly source: ByteSource
  readonly file: SectionedFile
  readonly findings: readonly Finding[]
  /** The codes of errors, without the format's name. */
  readonly errors: ReadonlySet<string>
  readonly context: ReadContext
}

/** A code without the name of the format. */
export const bare = (code: string): string => code.slice(code.indexOf('/') + 1)

/** The index as it is stored. It was read before, so it is there and not too large. */
export async function readIndexAgain(
  { tensorIndexOffset: offset, tensorIndexCount: count }: Header,
  source: ByteSource,
  context: ReadContext,
): Promise<{ descriptors: Uint8Array; index: readonly IndexEntry[] }> {
  const { signal } = context
  const descriptors = await source.read(offset, count * descriptor.size, { signal })
  const names = await source.read(offset + descriptors.byteLength, totalNameLength(descriptors), { signal })
  // Which bytes are still there is known.
  return { descriptors, index: readTensorIndex(descriptors, names, offset, { source, offset: 0, size: 0 }, context) }
}
