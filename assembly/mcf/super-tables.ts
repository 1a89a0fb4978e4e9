// Where the search over super-blocks keeps what it works with, for the eight blocks of one: a f32 for each, or sixteen.

/** How many super-scales are tried. */
export const tries: usize = 16

// What does not depend on the codes: the size of a whole step, Σxx, and sub-scales.
export const unitTable: usize = 96
export const squareTable: usize = 128
export const subTable: usize = 160
export const otherSubTable: usize = 192
export const keptSubTable: usize = 224
/** The scale that the largest magnitude alone would give. */
export const plainTable: usize = 480
/** The weight of the block that is being estimated, and how many of its steps a sub-scale of 1 takes. */
export const blockTable: usize = 448

// What does, for symmetric codes; the same for all codes lies `apart` bytes behind, and for negative scales as many again. The best scale of
// each block alone, then the super-scales that are tried, 32 over each of them, and the error that is estimated for each.
export const scaleTable: usize = 64
export const superTable: usize = 256
export const inverseTable: usize = 320
export const errorTable: usize = 384
// Sixteen f32 for each block.
export const productTable: usize = 2048
export const codeSquareTable: usize = 4096
