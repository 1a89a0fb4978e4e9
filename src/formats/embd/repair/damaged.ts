import type { ByteSource } from '../../../bytes/index.js'
import type { Finding } from '../../../errors/index.js'
import type { Model, ReadContext } from '../../../model/index.js'
import { readTensorIndex, type TensorIndex, totalNameLength } from '../sectioned/tensor-index.js'
import { descriptor, type Header } from '../structs.js'

/** A sectioned file as it was read, with everything that is wrong with it. */
export interface Damaged {
  readonly source: ByteSource
  readonly model: Model
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
): Promise<{ descriptors: Uint8Array; index: TensorIndex }> {
  const { signal } = context
  const descriptors = await source.read(offset, count * descriptor.size, { signal })
  const names = { source, offset: offset + descriptors.byteLength, length: totalNameLength(descriptors), ahead: 0 }
  // Which bytes are still there is known.
  return { descriptors, index: await readTensorIndex(descriptors, names, offset, { offset: 0, size: 0 }, context) }
}
