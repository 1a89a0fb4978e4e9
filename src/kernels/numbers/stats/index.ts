// Statistics of decoded values. Large tensors are read in windows, twice: every function takes a state and a window, so a tensor of any size
// needs one window and about 2 MiB of counters.
export * from './bins.js'
export * from './compiled.js'
export * from './counts.js'
export * from './detail.js'
export * from './few.js'
export * from './keys.js'
export * from './rank.js'
export * from './summary.js'
