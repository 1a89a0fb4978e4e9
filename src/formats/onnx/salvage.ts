// Reading a file that was cut. The weights are fields of the graph, which is a field of the model, and each says how long it is; so the
// graph is cut wherever the file is. It is read as if it ended behind the last of its fields that is whole.
import { type ByteSource, decodeUtf8 } from '../../bytes/index.js'
import { strictReport, TareError } from '../../errors/index.js'
import type { Lost, Model, ReadContext } from '../../model/index.js'
import { ProtobufReader, protobufCodes } from '../../wire/protobuf/protobuf.js'
import { protoPrefix } from '../../wire/protobuf/write.js'
import { type PatchPiece, patchedSource } from '../../writing/patched-source.js'
import { readModel } from './read.js'

const graphField = 7
const nodeField = 1
const initializerField = 5
const tensorNameField = 8
const longestName = 65_536

/** The first field of a message that is not all there. */
interface Cut {
  /** Where its tag is: everything before is whole. */
  readonly at: number
  /** Undefined when not even its tag and length are there. */
  readonly field?: { readonly number: number; readonly start: number; readonly length: number }
}

export async function readCut(source: ByteSource, context: ReadContext): Promise<Model> {
  const cut = await findCut(source, 0, context)
  if (!cut) return readModel(source, context)
  const { onLost } = context
  const behind: Lost = { subject: 'metadata', reason: `whatever the model says behind byte ${source.size}` }
  onLost?.(behind)
  if (cut.field?.number !== graphField)
    return readModel(patchedSource(source, [{ offset: 0, length: cut.at }]), context)
  const { start, length } = cut.field
  const inner = await findCut(source, start, context)
  const end = inner?.at ?? source.size
  if (inner) await sayLost(source, inner, context)
  const missing = start + length - source.size
  onLost?.({ subject: 'tensor', reason: `whatever is in the ${missing} bytes of the graph that are missing` })
  const graph: PatchPiece[] = [protoPrefix(graphField, end - start), { offset: start, length: end - start }]
  return readModel(patchedSource(source, [{ offset: 0, length: cut.at }, ...graph]), context)
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
      // Anything else is damage that the reader knows more about.
      if (!(error instanceof TareError) || error.code !== protobufCodes.truncated.code) return undefined
      const { field: number, start: from, end } = reader
      return reader.at === at && end > source.size ? { at, field: { number, start: from, length: end - from } } : { at }
    }
    await visit?.(reader)
  }
  return undefined
}

async function sayLost(source: ByteSource, { field }: Cut, context: ReadContext): Promise<void> {
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
    if (reader.field !== tensorNameField || reader.wire !== 2 || reader.length > longestName) return
    name = decodeUtf8(await source.read(reader.start, reader.length, { signal }))
  })
  onLost?.({ subject: 'tensor', name, length: field.length, reason })
}
