// The memory map of the compiled kernels: every address that they or their callers use, one object per module. scripts/build-kernels.mjs
// gives each folder of assembly/ its object as constants, so that both sides agree. For that it runs this file as plain JavaScript: no type
// annotations and no imports here.

const page = 65_536

/**
 * `assembly/numbers` works in the arena that windows lie in (src/bytes/window.ts), whose first 32 pages belong to kernels. All of them are
 * free for the next call, except for `evenTops`, `oddTops` and `marks`, whose user is remembered.
 */
export const numbersMap = {
  /** What a call returns beside its result: up to 14 numbers of 32 bits. Constants for vectors pass through here, too. */
  results: 1024,
  /** f64 per block of 1024 values: one, or ten from `compareBlocks`. */
  totals: 4096,
  /** The values of all codes in a byte, up to 32 bytes for each of 256; or of two 6-bit codes, 8 bytes for each of 4096. */
  table: 8192,
  /** How often each top digit occurs, u32. Two tables, used in turn, so that equal neighbours do not wait for each other. */
  evenTops: page,
  oddTops: 5 * page,
  /** A byte per top digit. */
  marks: 9 * page,
  /** Marked values (f32), or pairs of a digit and its count (u32). */
  found: 10 * page,
  /** u16 codes by the upper half of an f32. */
  codeTable: 18 * page,
  /** `transpose`: a transposed tile of 64 rows of 64 bytes, and two blocks of 16 by 16 bytes on their way there. */
  transposed: 20 * page,
  transposedBlocks: 20 * page + 4096,
  /** Input and output that lie outside the arena are copied here, 2 pages at a time. */
  tile: 24 * page,
  secondTile: 26 * page,
}

/** `assembly/ggml` works in the arena as well; its encoders keep one block of 256 values in page 31. */
export const ggmlMap = {
  /** Constants for vectors pass through here. */
  splats: 31 * page,
  /** The block as f64. Its values less the smallest of their sub-block follow at +2048. Signed types: 16 values as f32. */
  values: 31 * page + 1024,
  /** A code per byte. */
  codes: 31 * page + 7168,
  /** For each of 16 sub-blocks: scale and minimum as f64, then as the whole steps that are stored. Signed types: scales as f32. */
  scales: 31 * page + 7424,
  mins: 31 * page + 7552,
  scaleSteps: 31 * page + 7680,
  minSteps: 31 * page + 7696,
  /** Up to 32 factors to try (f32 for signed types), and the outcome of four of them. */
  factors: 31 * page + 7712,
  triedScales: 31 * page + 7968,
  triedOffsets: 31 * page + 8000,
  gains: 31 * page + 8032,
  /** Errors of four scales with each of three minimums. Signed types: gain and scale of eight trials, f32. */
  errors: 31 * page + 8064,
  /** Signed steps of 16 sub-blocks, as i16. */
  signedSteps: 31 * page + 8160,
  /** IQ4: the weights of 32 values, two sums for each of sixteen trials, and the scales of eight sub-blocks; f32. */
  levelWeights: 31 * page + 8192,
  levelSums: 31 * page + 8320,
  levelScales: 31 * page + 8448,
  /** What the fits of 16 sub-blocks leave, as f64. */
  fitErrors: 31 * page + 8512,
  // IQ1 to IQ3. Of the sub-block being fitted, 32 f32 each: magnitudes, weights, their roots, and weights times magnitudes.
  latticeValues: 30 * page,
  latticeWeights: 30 * page + 128,
  latticeRoots: 30 * page + 256,
  latticeProducts: 30 * page + 384,
  /** The digits of 32 trials, 32 bytes each, and of the best one; which of its vectors a trial found by a detour, a bit each. */
  latticeTrials: 30 * page + 512,
  latticeBest: 30 * page + 1536,
  latticeDetours: 30 * page + 1568,
  /** Σ weight · level · value and Σ weight · level² of every trial, f32. */
  trialProducts: 30 * page + 1600,
  trialSquares: 30 * page + 1728,
  /** Of the whole block: indexes of 64 vectors as u16, the bits above the eighth, the signs of every eight values, scales as f32 and in steps. */
  latticeIndexes: 30 * page + 1856,
  latticeHighBits: 30 * page + 1984,
  latticeSigns: 30 * page + 2048,
  latticeScales: 30 * page + 2080,
  latticeSteps: 30 * page + 2144,
  /** Which distances from a point occur: a byte for each. */
  latticeSeen: 30 * page + 2160,
  /** IQ1: positions in ascending order of values, and these values. */
  cutOrder: 30 * page + 2416,
  cutValues: 30 * page + 2448,
  /** IQ1_S: sums over the first values, 33 and three that count for nothing; of weighted values, and of weights. */
  cutProducts: 30 * page + 2576,
  cutWeights: 30 * page + 2720,
  /** What four pairs of cuts come to with either shift. */
  cutTrials: 30 * page + 2864,
  /** IQ1_M: for every value and digit, what it adds with each of four shifts; 48 times four f32 for products, and for squares. */
  cutTerms: 30 * page + 2992,
  cutSquareTerms: 30 * page + 3760,
  /** IQ1_M: shifts and digits of the whole block. */
  cutShifts: 30 * page + 4528,
  cutDigits: 30 * page + 4544,
  // ggml's own fits. Value i of four sub-blocks side by side: values, weights and codes, 32 times four f32 each; three sums follow the codes.
  columnValues: 30 * page + 8192,
  columnWeights: 30 * page + 8704,
  columnCodes: 30 * page + 9216,
  /** Of 16 sub-blocks, as f32: scales, minimums, sums of weights, and the factors and lowest values that codes follow from. */
  fitScales: 30 * page + 9792,
  fitMins: 30 * page + 9856,
  fitWeights: 30 * page + 9920,
  fitFactors: 30 * page + 9984,
  fitLows: 30 * page + 10_048,
  /** Signed scales: 24 factors and two sums for each, then weights; f32. */
  signedTrials: 30 * page + 10_112,
  /** A block as a reader sees it: 256 f32. And a byte for each of up to 8192 blocks. */
  decodedBlock: 30 * page + 10_752,
  marks: 30 * page + 12_288,
}

/**
 * The tables of one lattice, as distances from the start of a window in the arena: five numbers, an entry for every point (u32), the vectors as
 * digits, their distances from a point, and their levels (f32). Lists of candidates follow.
 */
export const latticeMap = {
  latticeEntries: 64,
  latticeDigits: 26_368,
  latticeDistances: 42_752,
  latticeLevels: 44_800,
}

/** `assembly/mcf` has a memory of its own: a page of tables, then one window per kind of data, each starting at a page. */
export const mcfMap = {
  pages: 6,
  // The windows hold a tile of at most 1024 blocks.
  values: page,
  scales: 3 * page,
  subScales: 4 * page,
  codes: 5 * page,
  /** One block of codes, a byte each. */
  block: 0,
  // Search over super-blocks: one f32 for each of eight blocks. Tables that depend on the codes exist three times, `apart` (512) bytes from
  // each other: for symmetric codes, for all codes, and for all codes with a negative scale.
  /** The best scale of each block alone; three times. */
  scaleTable: 64,
  /** The size of a whole step. */
  unitTable: 96,
  /** Σxx. */
  squareTable: 128,
  /** Sub-scales: the best so far, another choice, and a copy of the best. */
  subTable: 160,
  otherSubTable: 192,
  keptSubTable: 224,
  /** The super-scales to try, 32 over each of them, and the estimated error of each; sixteen f32, three times. */
  superTable: 256,
  inverseTable: 320,
  errorTable: 384,
  /** Weight and step size of the block being estimated. */
  blockTable: 448,
  /** The scale that follows from the largest magnitude alone. */
  plainTable: 480,
  /** Multipliers that `unpack` shifts codes with. */
  multiplierTable: 1024,
  /** Σcx and Σcc of sixteen starts for each block; three times. */
  productTable: 2048,
  codeSquareTable: 4096,
  /** Starts: the block in whole numbers (i16), then the largest and the smallest code of each set, eight times each. */
  wholeTable: 8192,
  symmetricCodes: 8256,
  positiveCodes: 8288,
  mirroredCodes: 8320,
  /** The same limits as f32, four times each. */
  symmetricLimits: 8352,
  positiveLimits: 8384,
  mirroredLimits: 8416,
}

/** `assembly/digests` has a memory of its own: scratch and tables, what is hashed, and a page that spare lanes may read. */
export const digestsMap = {
  pages: 3,
  // BLAKE3: chaining values and message of four lanes, word by word; a short block padded with zeros; the nodes of one level.
  values: 0x1000,
  message: 0x1100,
  padded: 0x1200,
  nodes: 0x2000,
  // CRC-32: the table of the bytewise method; the same for half bytes; room to turn rows into columns; sixteen checksums.
  byteTable: 0x4000,
  halfTable: 0x4400,
  rows: 0x4600,
  columns: 0x4700,
  sums: 0x4800,
  /** Input. */
  window: page,
}
