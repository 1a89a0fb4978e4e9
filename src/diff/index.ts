export type { Closeness } from '../kernels/numbers/compare.js'
export { type DiffOptions, diffModels } from './diff.js'
export { type Metric, metrics as diffMetrics, type ToleranceOptions } from './tolerance.js'
export type {
  Difference,
  DifferenceCounts,
  MetadataDifference,
  PartDifference,
  TensorChange,
  TensorDifference,
  TensorSide,
  ValueDifference,
} from './types.js'
