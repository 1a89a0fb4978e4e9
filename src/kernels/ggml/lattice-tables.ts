// The tables that the compiled encoders of lattice types work with: one window of the arena per lattice, taken at its first use and kept.
import { releaseWindow, takeWindow } from '../../bytes/index.js'
import { latticeMap } from '../memory-map.js'
import { type CompiledLatticeEncoder, compiledRows, type GgmlModule } from './compiled.js'
import type { BlockLayout, EncodeRow } from './layouts.js'
import type { Grid } from './reference/grid.js'

/** For lists of candidates. All lists of the largest lattice take 0.7 MiB; where there is no more room, the kernels begin again. */
export const roomForLists = 3 << 18

const known = new WeakMap<Grid, number>()

/** Where the tables of a lattice are, or undefined if the arena has no room for them. */
export function latticeTables(module: GgmlModule, grid: Grid, room = roomForLists): number | undefined {
  const before = known.get(grid)
  if (before !== undefined) return before
  const { digits, width, distances, isCentred } = grid
  const size = latticeMap.latticeLevels + 4 * digits.length + room
  const window = takeWindow(size)
  if (window.buffer !== module.buffer) {
    releaseWindow(window)
    return undefined
  }
  window.set(digits, latticeMap.latticeDigits)
  const [step, lowest] = isCentred ? [1, -1] : [2, 1]
  module.run.prepareLattice(window.byteOffset, size, digits.length / width, width, distances, step, lowest)
  known.set(grid, window.byteOffset)
  return window.byteOffset
}

/** Encodes with a compiled kernel, or with `plain` where it cannot run. */
export const compiledLattice = (
  name: CompiledLatticeEncoder,
  layout: BlockLayout,
  grid: () => Grid,
  plain: EncodeRow,
): EncodeRow => compiledRows(name, layout, plain, (module) => latticeTables(module, grid()))
