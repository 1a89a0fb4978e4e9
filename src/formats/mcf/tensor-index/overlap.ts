// Tensors may have the same place, down to the last byte: that is how equal ones are stored once. Any other overlap is damage, or the work of
// a writer that has lost count: a change to one tensor changes another.
import type { ReadContext, Tensor } from '../../../model/index.js'
import { codes } from '../codes.js'

/** Reports once for the file how many tensors begin inside another one, and which is the first. */
export function checkTensorOverlap(tensors: readonly Tensor[], { report }: ReadContext): void {
  const places = placesOf(tensors)
  if (areApart(places)) return
  const order = Uint32Array.from(places.offsets.keys()).sort((a, b) => compare(places, a, b))
  let count = 0
  let first: readonly [position: number, other: number] | undefined
  let holder = -1 // of those so far, the one that ends last
  for (const position of order) {
    const isShared = holder >= 0 && places.offsets[position]! < places.ends[holder]!
    if (isShared && compare(places, position, holder) !== 0) {
      count++
      first ??= [position, holder]
    }
    if (!isShared || places.ends[position]! > places.ends[holder]!) holder = position
  }
  if (!first) return
  const [name, other] = first.map((position) => JSON.stringify(tensors.at(position)!.name))
  const offset = places.offsets[first[0]]!
  const length = Math.min(places.ends[first[0]]!, places.ends[first[1]]!) - offset
  const more = count > 1 ? `, and ${count - 1} more tensors are like it` : ''
  const message = `${name} shares ${length} bytes with ${other}${more}`
  report.report(codes['tensor-overlap'], { offset, length, path: `data[${name}]`, message })
}

interface Places {
  readonly offsets: Float64Array
  readonly ends: Float64Array
}

function placesOf(tensors: readonly Tensor[]): Places {
  const offsets = new Float64Array(tensors.length)
  const ends = new Float64Array(tensors.length)
  for (const [i, { data }] of tensors.entries()) {
    offsets[i] = data?.origin?.offset ?? 0
    ends[i] = offsets[i]! + (data?.origin?.length ?? 0)
  }
  return { offsets, ends }
}

const areApart = ({ offsets, ends }: Places): boolean => offsets.every((offset, i) => i === 0 || ends[i - 1]! <= offset)

const compare = ({ offsets, ends }: Places, a: number, b: number): number =>
  offsets[a]! - offsets[b]! || ends[b]! - ends[a]!
