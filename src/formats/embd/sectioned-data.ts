// Gives every tensor of the index its bytes in the data section, and finds out which of them share bytes or leave some over.
import type { ByteSource } from '../../bytes/index.js'
import { type ReadContext, rangePayload, type Tensor } from '../../model/index.js'
import { codes } from './codes.js'
import type { Range } from './parts.js'
import { alignment, descriptor } from './structs.js'
import { descriptorPath, type IndexEntry } from './tensor-index.js'

export interface DataSection {
  readonly offset: number
  /** What the file really has of it. */
  readonly size: number
  /** Whether that is all that the header states. */
  readonly isWhole: boolean
  readonly isAligned: boolean
}

export interface PlacedTensors {
  readonly tensors: Tensor[]
  /** Bytes of the section that belong to no tensor, absolute. */
  readonly padding: Range[]
}

export function placeTensors(
  entries: readonly IndexEntry[],
  section: DataSection,
  isComplete: boolean,
  source: ByteSource,
  context: ReadContext,
): PlacedTensors {
  const tensors: Tensor[] = []
  const placed: IndexEntry[] = []
  let relative: IndexEntry | undefined
  let isSound = isComplete
  for (const entry of entries) {
    const { name, dtype, shape, size, dataOffset } = entry
    if (dataOffset === undefined || dataOffset + size > section.size) {
      // When the section itself is cut off, that was said already.
      if (section.isWhole) complainOfRange(entry, section, context)
      continue
    }
    if (section.isAligned && (section.offset + dataOffset) % alignment !== 0) {
      if (dataOffset % alignment === 0) relative ??= entry
      else {
        complainOfAlignment(entry, 'alignment', `data_offset ${dataOffset} is no multiple of ${alignment}`, context)
        isSound = false
      }
    }
    const data = rangePayload(source, section.offset + dataOffset, size)
    tensors.push({ name, dtype, shape, order: 'row', role: 'weight', data })
    placed.push(entry)
    context.extents?.add({
      file: source.name,
      offset: section.offset + dataOffset,
      length: size,
      path: `data[${JSON.stringify(name)}]`,
      kind: 'data',
    })
  }
  if (relative) {
    const message = `tensors are aligned from the section's start at ${section.offset}, which is no multiple of ${alignment}`
    complainOfAlignment(relative, 'alignment-absolute', message, context)
  }
  const padding = checkOverlap(placed, section, context)
  // With a tensor missing or in the wrong place, the bytes between tensors may well be somebody's.
  isSound &&= placed.length === entries.length
  return { tensors, padding: isSound && padding ? padding : [] }
}

function complainOfRange(entry: IndexEntry, section: DataSection, { report }: ReadContext): void {
  const { dataOffset, size, at, index } = entry
  const where = dataOffset === undefined ? 'an offset beyond 2^53' : `data_offset ${dataOffset}`
  const message = `${size} bytes at ${where}, but the data section has ${section.size}`
  report.report(codes['data-range'], {
    offset: at + descriptor.offsetOf('dataOffset'),
    path: descriptorPath(index, 'data_offset'),
    message,
  })
}

function complainOfAlignment(
  { at, index }: IndexEntry,
  code: 'alignment' | 'alignment-absolute',
  message: string,
  { report }: ReadContext,
): void {
  report.report(codes[code], {
    offset: at + descriptor.offsetOf('dataOffset'),
    path: descriptorPath(index, 'data_offset'),
    message,
  })
}

/** The bytes between tensors, unless some tensors share theirs. */
function checkOverlap(
  entries: readonly IndexEntry[],
  section: DataSection,
  { report }: ReadContext,
): Range[] | undefined {
  const gaps: Range[] = []
  let isSound = true
  let reached = 0
  let before: IndexEntry | undefined
  for (const entry of entries.toSorted((a, b) => a.dataOffset! - b.dataOffset!)) {
    const start = entry.dataOffset!
    if (start < reached) {
      const message = `${JSON.stringify(entry.name)} shares bytes with ${JSON.stringify(before!.name)}`
      const offset = entry.at + descriptor.offsetOf('dataOffset')
      report.report(codes['tensor-overlap'], { offset, path: descriptorPath(entry.index, 'data_offset'), message })
      isSound = false
    } else if (start > reached) gaps.push([section.offset + reached, section.offset + start])
    if (start + entry.size > reached) before = entry
    reached = Math.max(reached, start + entry.size)
  }
  if (reached < section.size) gaps.push([section.offset + reached, section.offset + section.size])
  return isSound ? gaps : undefined
}
