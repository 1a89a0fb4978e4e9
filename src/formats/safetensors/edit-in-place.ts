// The header's length counts the spaces behind its JSON, so a header that is no longer than the old one leaves the data where it is.
import {
  type FileLayout,
  type Model,
  rangePayload,
  slotsMadeBy,
  type Tensor,
  type WriteOptions,
} from '../../model/index.js'
import { encodeHeader, headerSlots, prefixSize } from './encode-header.js'
import { storedMetadata } from './index-metadata.js'

export async function editInPlace(
  { files, tensors: old }: Model,
  edited: Model,
  { name, signal }: WriteOptions,
): Promise<FileLayout | undefined> {
  const [source] = files
  if (!source || files.length > 1 || edited.tensors.length !== old.length) return undefined
  if (edited.tensors.some(({ data }) => data?.origin?.source !== source)) return undefined
  const start = await source.read(0, prefixSize, { signal })
  const length = Number(new DataView(start.buffer, start.byteOffset).getBigUint64(0, true))
  const dataStart = prefixSize + length
  const placeOf = ({ data }: Tensor): number => data!.origin!.offset - dataStart
  const inFileOrder = edited.tensors.toSorted((a, b) => placeOf(a) - placeOf(b))
  const json = encodeHeader(inFileOrder, storedMetadata(edited), placeOf)
  if (json.length > length) return undefined
  const data = rangePayload(source, dataStart, source.size - dataStart)
  const slots = slotsMadeBy(function* () {
    yield* headerSlots(json, length)
    yield { kind: 'payload', path: 'data', payload: data }
  })
  return { name, slots }
}
