// Statistics of decoded values. Large tensors go by in windows, twice: every function takes a state and a window, and a tensor of any size
// needs a window and about 2 MiB of counters.
export * from './stats-bins.js'
export * from './stats-compiled.js'
export * from './stats-counts.js'
export * from './stats-detail.js'
export * from './stats-few.js'
export * from './stats-keys.js'
export * from './stats-rank.js'
export * from './stats-summary.js'
