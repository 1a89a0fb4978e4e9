// Gives every tensor of the index its bytes in the data section, and finds out which of them share bytes or leave some over.
import { type ByteSource, gaps, inOrder, overlaps, type Range } from '../../../bytes/index.js'
import { type ReadContext, rangePayload, type Tensor } from '../../../model/index.js'
import { codes } from '../codes.js'
import { alignment, descriptor } from '../structs.js'
import { descriptorPath, type IndexEntry } from './tensor-index.js'

export interface DataSection {
  readonly offset: number
  /** How much of it the file has. */
  readonly size: number
  /** Whether that is all that the header states. */
  readonly isWhole: boolean
  readonly isAligned: boolean
}

export interface PlacedTensors {
  readonly tensors: readonly Tensor[]
  /** Bytes of the section that belong to no tensor, by their offsets in the file. */
  readonly padding: readonly Range[]
}

/** `count`: how many tensors the header announces. */
export function placeTensors(
  index: readonly IndexEntry[],
  count: number,
  section: DataSection,
  source: ByteSource,
  { report, extents }: ReadContext,
): PlacedTensors {
  const complain = (
    code: 'data-range' | 'alignment' | 'alignment-absolute' | 'tensor-overlap',
    { number, at }: IndexEntry,
    message: string,
  ): void => {
    const offset = at + descriptor.offsetOf('dataOffset')
    report.report(codes[code], { offset, path: descriptorPath(number, 'data_offset'), message })
  }
  const placed: IndexEntry[] = []
  let isSound = index.length === count
  let relative: IndexEntry | undefined
  for (const entry of index) {
    const { start, end, name, dtype, shape } = entry
    if (end > section.size) {
      isSound = false
      const where = Number.isFinite(start) ? `data_offset ${start}` : 'an offset beyond 2^53'
      const message = `${dtype.byteLength(shape)} bytes at ${where}, but the data section has ${section.size}`
      // When the section itself is cut off, that was said already.
      if (section.isWhole) complain('data-range', entry, message)
      continue
    }
    placed.push(entry)
    const offset = section.offset + start
    if (section.isAligned && offset % alignment !== 0) {
      if (start % alignment === 0) relative ??= entry
      else {
        isSound = false
        complain('alignment', entry, `data_offset ${start} is no multiple of ${alignment}`)
      }
    }
    if (!extents) continue
    const path = `data[${JSON.stringify(name)}]`
    extents.add({ file: source.name, offset, length: end - start, path, kind: 'data' })
  }
  if (relative) {
    const message = `tensors are aligned from the section's start at ${section.offset}, which is no multiple of ${alignment}`
    complain('alignment-absolute', relative, message)
  }
  const ordered = inOrder(placed)
  for (const [before, entry] of overlaps(ordered)) {
    isSound = false
    complain('tensor-overlap', entry, `${JSON.stringify(entry.name)} shares bytes with ${JSON.stringify(before.name)}`)
  }
  const tensors = placed.map(({ name, dtype, shape, start, end }): Tensor => {
    const data = rangePayload(source, section.offset + start, end - start)
    return { name, dtype, shape, order: 'row', role: 'weight', data }
  })
  // With a tensor missing or in the wrong place, the bytes between tensors may belong to one.
  if (!isSound) return { tensors, padding: [] }
  const inFile = ({ start, end }: Range): Range => ({ start: section.offset + start, end: section.offset + end })
  return { tensors, padding: Array.from(gaps(ordered, 0, section.size), inFile) }
}
