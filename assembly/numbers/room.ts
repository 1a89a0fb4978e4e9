// The memory is imported: it is the arena that windows lie in, so kernels work on windows where they are. Its first pages are ours; what
// lies where is repeated in src/kernels/numbers.ts. Addresses that are known at compile time go into the instructions.
const page: usize = 65536

/** What a call gives back beside its result. */
export const results: usize = 1024
/** One f64 per block. */
export const totals: usize = 4096
/** Values by byte, up to 32 bytes each, or by twelve bits, eight bytes each. */
export const table: usize = 8192
/** How often each top digit occurs, in two tables: neighbours count in different ones, so that equal values do not wait for each other. */
export const evenTops: usize = page
export const oddTops: usize = 5 * page
/** A byte per top digit. */
export const marks: usize = 9 * page
/** Marked values, or pairs of a digit and its count. */
export const found: usize = 10 * page
/** Codes of two bytes, by the upper half of an f32. */
export const codeTable: usize = 18 * page
/** A tile that was turned, and blocks on the way. */
export const turned: usize = 20 * page
export const blocks: usize = 20 * page + 4096
