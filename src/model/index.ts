export * from './format.js'
export * from './layout.js'
export * from './metadata.js'
export {
  closeModel,
  type DamageFinder,
  type DamageOptions,
  type Dim,
  type Model,
  type ModelNames,
  type Part,
  type QuantParams,
  shownDims,
  type Tensor,
  totalSize,
} from './model.js'
export {
  bytesPayload,
  type CostRange,
  lazyPayload,
  type Payload,
  rangePayload,
  readPayload,
  rechunked,
  type Slices,
} from './payload.js'
export { payloadRange } from './payload-range.js'
export * from './recipe.js'
export * from './verified.js'
