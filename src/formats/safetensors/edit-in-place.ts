// The length of the header includes the spaces after its JSON, so new JSON that is no longer than the old header leaves the data in place.
import { type FileLayout, type Model, rangePayload, type Tensor, type WriteOptions } from '../../model/index.js'
import { encodeHeader, headerLength, headerSlots } from './encode-header.js'
import { storedMetadata } from './index-metadata.js'
import { headerLengthIn, prefix } from './structs.js'

export async function editInPlace(
  { files, tensors: old }: Model,
  edited: Model,
  { name, signal }: WriteOptions,
): Promise<FileLayout | undefined> {
  const [source] = files
  if (!source || files.length > 1 || edited.tensors.length !== old.length) return undefined
  if (edited.tensors.some(({ data }) => data?.origin?.source !== source)) return undefined
  const length = Number(headerLengthIn(await source.read(0, prefix.size, { signal })))
  const dataStart = prefix.size + length
  const placeOf = ({ data }: Tensor): number => data!.origin!.offset - dataStart
  const inFileOrder = edited.tensors.toSorted((a, b) => placeOf(a) - placeOf(b))
  const json = encodeHeader(inFileOrder, storedMetadata(edited), placeOf)
  if (headerLength(json) > length) return undefined
  const data = rangePayload(source, dataStart, source.size - dataStart)
  return { name, slots: [...headerSlots(json, length), { kind: 'payload', path: 'data', payload: data }] }
}
