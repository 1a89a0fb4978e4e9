// The lattices of the IQ types as grids to search in.
import { lattice1, lattice2s, lattice2xs, lattice2xxs, lattice3s, lattice3xxs } from '../plain/lattices.js'
import { lazyGrid } from './grid.js'

export const grid1 = lazyGrid(lattice1, 8, 3)
export const grid2xxs = lazyGrid(lattice2xxs, 8, 2)
export const grid2xs = lazyGrid(lattice2xs, 8, 2)
export const grid2s = lazyGrid(lattice2s, 8, 1)
export const grid3xxs = lazyGrid(lattice3xxs, 4, 2)
export const grid3s = lazyGrid(lattice3s, 4, 3)
