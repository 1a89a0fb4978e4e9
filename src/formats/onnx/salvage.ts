// Reading a file that was cut. The weights are fields of the graph, which is a field of the model, and each says how long it is; so the
// graph is cut wherever the file is. It is read as if it ended after its last complete field.
import { type ByteSource, decodeUtf8 } from '../../bytes/index.js'
import { strictReport, TareError } from '../../errors/index.js'
import type { ReadContext } from '../../model/index.js'
import { ProtobufReader, protobufCodes } from '../../wire/protobuf/protobuf.js'
import { protoPrefix } from '../../wire/protobuf/write.js'
import { type PatchPiece, patchedSource } from '../../writing/patched-source.js'

const graphField = 7
const nodeField = 1
const initializerField = 5
const tensorNameField = 8
const maxName = 65_536

/** The first field of a message that is not complete. */
interface Cut {
  /** Where its tag is: everything before it is complete. */
  readonly at: number
  /** Undefined when not even its tag and length are there. */
  readonly field?: { readonly number: number; readonly start: number; readonly length: number }
}

/** The file as it would be without what was cut; the same source when nothing was. */
export async function withoutCut(source: ByteSource, context: ReadContext): Promise<ByteSource> {
  const cut = await findCut(source, 0, context)
  if (!cut) return source
  const { onLost } = context
  onLost?.({ subject: 'metadata', reason: `whatever the model says behind byte ${source.size}` })
  const before: PatchPiece = { offset: 0, length: cut.at }
  if (cut.field?.number !== graphField) return patchedSource(source, [before])
  const { start, length } = cut.field
  const inner = await findCut(source, start, context)
  const end = inner?.at ?? source.size
  if (inner) await tellLost(source, inner, context)
  const missing = start + length - source.size
  onLost?.({ subject: 'tensor', reason: `whatever is in the ${missing} bytes of the graph that are missing` })
  const kept = end - start
  return patchedSource(source, [before, protoPrefix(graphField, kept), { offset: start, length: kept }])
}

/** Goes through the fields of a message that should have ended with the file, or behind it. */
async function findCut(
  source: ByteSource,
  start: number,
  { signal }: ReadContext,
  visit?: (reader: ProtobufReader) => Promise<void>,
): Promise<Cut | undefined> {
  const reader = new ProtobufReader(source, strictReport(source.name), { signal })
  for (let at = start; at < source.size; at = reader.end) {
    try {
      await reader.readField(at, source.size, '')
    } catch (error) {
      // Other damage is left to the reader, which knows more about it.
      if (!(error instanceof TareError) || error.code !== protobufCodes.truncated.code) return undefined
      const { field: number, start: from, end } = reader
      return reader.at === at && end > source.size ? { at, field: { number, start: from, length: end - from } } : { at }
    }
    await visit?.(reader)
  }
  return undefined
}

async function tellLost(source: ByteSource, { field }: Cut, context: ReadContext): Promise<void> {
  const { onLost, signal } = context
  if (!field || (field.number !== initializerField && field.number !== nodeField)) return
  const end = field.start + field.length
  const reason = `it ends at ${end}, the file at ${source.size}`
  if (field.number === nodeField) {
    onLost?.({ subject: 'tensor', reason: `the tensors of a node, if it has any: ${reason}` })
    return
  }
  let name: string | undefined
  await findCut(source, field.start, context, async (reader) => {
    if (reader.field !== tensorNameField || reader.wire !== 2 || reader.length > maxName) return
    name = decodeUtf8(await source.read(reader.start, reader.length, { signal }))
  })
  onLost?.({ subject: 'tensor', name, reason })
}
