// The header's length counts the spaces behind its JSON, so a header that is no longer than the old one leaves the data where it is.
import { type FileLayout, type Model, rangePayload, type WriteOptions } from '../../model/index.js'
import { headerPieces, headerSlots, totalLength } from './layout.js'

const prefixSize = 8

export async function editInPlace(
  { files, tensors: old }: Model,
  edited: Model,
  { name, signal }: WriteOptions,
): Promise<FileLayout | undefined> {
  const [source] = files
  if (!source || files.length > 1 || edited.tensors.length !== old.length) return undefined
  const places = new Map(edited.tensors.map((tensor) => [tensor, tensor.data?.origin]))
  if ([...places.values()].some((origin) => origin?.source !== source)) return undefined
  const start = await source.read(0, prefixSize, { signal })
  const length = Number(new DataView(start.buffer, start.byteOffset).getBigUint64(0, true))
  const dataStart = prefixSize + length
  const inFileOrder = edited.tensors.toSorted((a, b) => places.get(a)!.offset - places.get(b)!.offset)
  const json = headerPieces(inFileOrder, edited, (tensor) => places.get(tensor)!.offset - dataStart)
  if (totalLength(json) > length) return undefined
  const data = rangePayload(source, dataStart, source.size - dataStart)
  return { name, slots: [...headerSlots(json, length), { kind: 'payload', path: 'data', payload: data }] }
}
