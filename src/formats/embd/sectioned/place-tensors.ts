// Gives every tensor of the index its bytes in the data section, and finds out which of them share bytes or leave some over.
import type { ByteSource } from '../../../bytes/index.js'
import { sortedPositions } from '../../../bytes/sort-positions.js'
import type { ReadContext, Tensor } from '../../../model/index.js'
import { codes } from '../codes.js'
import { alignment } from '../structs.js'
import { type DataRange, descriptorPath, type TensorIndex } from './tensor-index.js'

export interface DataSection extends DataRange {
  /** Whether the file has all of it that the header states. */
  readonly isWhole: boolean
  readonly isAligned: boolean
}

export interface PlacedTensors {
  readonly tensors: readonly Tensor[]
  /** Bytes of the section that belong to no tensor, absolute: where each stretch of them starts and ends. */
  readonly padding: Float64Array
}

const none = new Float64Array(0)

export function placeTensors(
  index: TensorIndex,
  section: DataSection,
  source: ByteSource,
  context: ReadContext,
): PlacedTensors {
  const { tensors, offsets, sizes } = index
  let relative = -1
  let isSound = index.isComplete
  let isCut = false
  for (let i = 0; i < tensors.length; i++) {
    const offset = offsets[i]!
    const size = sizes[i]!
    if (offset + size > section.size) {
      isCut = true
      // When the section itself is cut off, that was said already.
      if (section.isWhole) complainOfRange(index, i, section, context)
      continue
    }
    if (section.isAligned && (section.offset + offset) % alignment !== 0) {
      if (offset % alignment === 0) relative = relative < 0 ? i : relative
      else {
        complain(index, i, 'alignment', `data_offset ${offset} is no multiple of ${alignment}`, context)
        isSound = false
      }
    }
    context.extents?.add({
      file: source.name,
      offset: section.offset + offset,
      length: size,
      path: `data[${JSON.stringify(tensors.nameAt(i))}]`,
      kind: 'data',
    })
  }
  if (relative >= 0) {
    const message = `tensors are aligned from the section's start at ${section.offset}, which is no multiple of ${alignment}`
    complain(index, relative, 'alignment-absolute', message, context)
  }
  const placed = isCut ? index.withData() : index
  const padding = checkOverlap(placed, section, context)
  // With a tensor missing or in the wrong place, the bytes between tensors may well be somebody's.
  return { tensors: placed.tensors, padding: isSound && !isCut && padding ? padding : none }
}

function complainOfRange(index: TensorIndex, i: number, section: DataSection, context: ReadContext): void {
  const offset = index.offsets[i]!
  const where = Number.isFinite(offset) ? `data_offset ${offset}` : 'an offset beyond 2^53'
  const message = `${index.sizes[i]} bytes at ${where}, but the data section has ${section.size}`
  complain(index, i, 'data-range', message, context)
}

function complain(
  index: TensorIndex,
  i: number,
  code: 'data-range' | 'alignment' | 'alignment-absolute' | 'tensor-overlap',
  message: string,
  { report }: ReadContext,
): void {
  const path = descriptorPath(index.numbers[i]!, 'data_offset')
  report.report(codes[code], { offset: index.placeOf(i, 'dataOffset'), path, message })
}

/** The bytes between tensors, unless some tensors share theirs. */
function checkOverlap(index: TensorIndex, section: DataSection, context: ReadContext): Float64Array | undefined {
  const { tensors, offsets, sizes } = index
  const gaps = new Float64Array(2 * tensors.length + 2)
  let found = 0
  const addGap = (start: number, end: number): void => {
    gaps[found++] = section.offset + start
    gaps[found++] = section.offset + end
  }
  let isSound = true
  let reached = 0
  let before = -1
  for (const i of inFileOrder(index)) {
    const start = offsets[i]!
    const end = start + sizes[i]!
    if (start < reached) {
      const message = `${JSON.stringify(tensors.nameAt(i))} shares bytes with ${JSON.stringify(tensors.nameAt(before))}`
      complain(index, i, 'tensor-overlap', message, context)
      isSound = false
    } else if (start > reached) addGap(reached, start)
    if (end > reached) before = i
    reached = Math.max(reached, end)
  }
  if (reached < section.size) addGap(reached, section.size)
  return isSound ? gaps.slice(0, found) : undefined
}

/** The numbers of tensors by where they start. */
const inFileOrder = ({ tensors, offsets }: TensorIndex): Iterable<number> =>
  sortedPositions(tensors.length, (a, b) => offsets[a]! - offsets[b]!)
