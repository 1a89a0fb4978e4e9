// Whether chunks cover a tensor exactly. They come from cutting it straight through along one dimension, then each piece along another;
// so it is enough to find such cuts again. What cannot be cut is one chunk, or chunks that overlap.
import type { Tile } from '../../payloads/mosaic-payload.js'

/** Tensors are cut once for each dimension of a mesh of machines; more levels are not made. */
const maxLevels = 32

export interface Flaw {
  readonly code: 'chunk-hole' | 'chunk-overlap'
  readonly message: string
}

/** What is wrong with the cover; undefined if nothing is. The chunks are inside the shape and have elements. */
export function findFlaw(shape: readonly number[], chunks: readonly Tile[]): Flaw | undefined {
  if (shape.includes(0)) return undefined
  return flawIn({ offsets: shape.map(() => 0), sizes: shape }, chunks, 0)
}

function flawIn(box: Tile, chunks: readonly Tile[], level: number): Flaw | undefined {
  if (chunks.length === 0) return hole(box.offsets)
  for (const axis of box.sizes.keys()) {
    const groups = groupsOf(chunks, axis)
    let at = box.offsets[axis]!
    for (const { start, end } of groups) {
      if (start !== at) return hole(box.offsets.with(axis, at))
      at = end
    }
    if (at !== box.offsets[axis]! + box.sizes[axis]!) return hole(box.offsets.with(axis, at))
    if (groups.length === 1) continue
    if (level >= maxLevels) return overlap(chunks)
    for (const { start, end, members } of groups) {
      const inner = { offsets: box.offsets.with(axis, start), sizes: box.sizes.with(axis, end - start) }
      const flaw = flawIn(inner, members, level + 1)
      if (flaw) return flaw
    }
    return undefined
  }
  return chunks.length === 1 ? undefined : overlap(chunks)
}

interface Group {
  readonly start: number
  end: number
  readonly members: Tile[]
}

/** Chunks between two neighbouring cuts along an axis, in order. */
function groupsOf(chunks: readonly Tile[], axis: number): Group[] {
  const groups: Group[] = []
  for (const chunk of chunks.toSorted((a, b) => a.offsets[axis]! - b.offsets[axis]!)) {
    const start = chunk.offsets[axis]!
    const end = start + chunk.sizes[axis]!
    const last = groups.at(-1)
    if (!last || start >= last.end) groups.push({ start, end, members: [chunk] })
    else {
      last.end = Math.max(last.end, end)
      last.members.push(chunk)
    }
  }
  return groups
}

const hole = (at: readonly number[]): Flaw => ({
  code: 'chunk-hole',
  message: `no chunk has the elements from [${at.join(', ')}] on`,
})

const overlap = ([first, second]: readonly Tile[]): Flaw => ({
  code: 'chunk-overlap',
  message: `the chunk at [${first!.offsets.join(', ')}] and that at [${second!.offsets.join(', ')}] cannot be separated by a straight cut`,
})
