// Parts of tensors as numbers: what a page or a picture needs, without reading the whole.
export type { SampleOptions } from './bands.js'
export type { ViewOptions } from './plane.js'
export type { Pooled } from './pool-cells.js'
export { type OverviewOptions, poolTensor, poolTensorSizes, previewTensor } from './pool-tensor.js'
export { poolWindow } from './pool-window.js'
export { type CodesOptions, hasCodes, readCodes, type WindowCodes } from './read-codes.js'
export { type Interval, readWindow, type TensorWindow, type TensorWindowOptions } from './read-window.js'
export { quantileShares, type SampleStats, type SampleStatsOptions, sampleStats } from './sample-stats.js'
