// The data stays where it is when the new index ends before it, less than one alignment away. A shorter index is filled up with the entry
// that holds nothing (structs.ts); a longer one takes from that entry.
import { alignUp } from '../../bytes/index.js'
import { type FileLayout, type Model, rangePayload, type WriteOptions } from '../../model/index.js'
import { chooseAlignment, completeMetadata, headerSlots, layoutHeader } from './layout.js'
import { filler, fillerOverhead, slackKey } from './structs.js'

export async function editInPlace(
  { files, tensors: old }: Model,
  edited: Model,
  { name }: WriteOptions,
): Promise<FileLayout | undefined> {
  const [source] = files
  const { tensors } = edited
  if (!source || files.length > 1 || tensors.length !== old.length || tensors.length === 0) return undefined
  const places = tensors.flatMap(({ data }) => (data?.origin?.source === source ? data.origin.offset : []))
  if (places.length !== tensors.length) return undefined
  const alignment = chooseAlignment(edited.metadata, { name })
  const dataStart = places.reduce((first, place) => Math.min(first, place))
  if (places.some((place) => place % alignment !== 0)) return undefined
  const metadata = completeMetadata(edited, alignment)
  const offsets = places.map((place) => place - dataStart)
  let header = layoutHeader(metadata, tensors, offsets)
  if (alignUp(header.length, alignment) !== dataStart) {
    const room = dataStart - header.length - fillerOverhead
    if (room < 0) return undefined
    header = layoutHeader(new Map([...metadata, [slackKey, filler(room)]]), tensors, offsets)
  }
  const data = rangePayload(source, dataStart, source.size - dataStart)
  return { name, slots: [...headerSlots(header, dataStart), { kind: 'payload', path: 'data', payload: data }] }
}
