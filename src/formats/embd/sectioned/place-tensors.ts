// Looks at where the tensors of the index lie in the data section: which are not inside, share bytes, or leave some over.
import { gaps, inOrder, overlaps, type Range } from '../../../bytes/index.js'
import type { ReadContext, Tensor } from '../../../model/index.js'
import { codes } from '../codes.js'
import { alignment, descriptor } from '../structs.js'
import { type DataPlace, descriptorPath, type IndexEntry } from './tensor-index.js'

export interface DataSection extends DataPlace {
  /** Whether the file has all of it that the header states. */
  readonly isWhole: boolean
  readonly isAligned: boolean
}

export interface PlacedTensors {
  readonly tensors: readonly Tensor[]
  /** Bytes of the section that belong to no tensor, by their offsets in the file. */
  readonly padding: readonly Range[]
}

/** The header announces `count` tensors, whose descriptors begin at `indexOffset`. */
export function placeTensors(
  index: readonly IndexEntry[],
  { count, offset: indexOffset }: { readonly count: number; readonly offset: number },
  section: DataSection,
  { report, extents, onLost }: ReadContext,
): PlacedTensors {
  const complain = (
    code: 'data-range' | 'alignment' | 'alignment-absolute' | 'tensor-overlap',
    { number }: IndexEntry,
    message: string,
  ): void => {
    const offset = indexOffset + number * descriptor.size + descriptor.offsetOf('dataOffset')
    report.report(codes[code], { offset, path: descriptorPath(number, 'data_offset'), message })
  }
  let isSound = index.length === count
  let relative: IndexEntry | undefined
  for (const entry of index) {
    const { start, end, tensor } = entry
    if (!tensor.data) {
      isSound = false
      const where = Number.isFinite(start) ? `data_offset ${start}` : 'an offset beyond 2^53'
      const message = `${tensor.dtype.byteLength(tensor.shape)} bytes at ${where}, but the data section has ${section.size}`
      // When the section itself is cut off, that was said already.
      if (section.isWhole) complain('data-range', entry, message)
      onLost?.({ subject: 'tensor', name: tensor.name, length: end - start, reason: message })
      continue
    }
    const offset = section.offset + start
    if (section.isAligned && offset % alignment !== 0) {
      if (start % alignment === 0) relative ??= entry
      else {
        isSound = false
        complain('alignment', entry, `data_offset ${start} is not a multiple of ${alignment}`)
      }
    }
    if (!extents) continue
    const path = `data[${JSON.stringify(tensor.name)}]`
    extents.add({ file: section.source.name, offset, length: end - start, path, kind: 'data' })
  }
  if (relative) {
    const message = `tensors are aligned from the section's start at ${section.offset}, which is not a multiple of ${alignment}`
    complain('alignment-absolute', relative, message)
  }
  const placed = index.filter(({ tensor }) => tensor.data)
  const ordered = inOrder(placed)
  for (const [before, entry] of overlaps(ordered)) {
    isSound = false
    const [name, other] = [entry, before].map(({ tensor }) => JSON.stringify(tensor.name))
    complain('tensor-overlap', entry, `${name} shares bytes with ${other}`)
  }
  const tensors = placed.map(({ tensor }) => tensor)
  // With a tensor missing or in the wrong place, the bytes between tensors may belong to one.
  if (!isSound) return { tensors, padding: [] }
  const inFile = ({ start, end }: Range): Range => ({ start: section.offset + start, end: section.offset + end })
  return { tensors, padding: Array.from(gaps(ordered, 0, section.size), inFile) }
}
