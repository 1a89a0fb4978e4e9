// A uuid that was made from the content must be made again when the content changes; any other stays what it is.
import { sameBytes } from '../control/chunk.js'
import { contentUuid, type Listed } from '../write/uuid.js'

/** The uuid for the new content of a file whose old content is known. */
export async function uuidAfter(
  uuid: Uint8Array,
  before: readonly Listed[],
  after: readonly Listed[],
): Promise<Uint8Array> {
  return sameBytes(uuid, await contentUuid(before)) ? contentUuid(after) : uuid
}
