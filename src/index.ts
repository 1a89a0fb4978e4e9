// The public names, by task. This entry runs in browsers, workers and Node alike; `tare/node` adds paths, and `tare/kit` has what tools
// are built from.

// Finding out what can go wrong
export type { TareCode } from './all-codes.js'
// Converting, quantizing, writing and repairing
export {
  type Converted,
  type ConvertOptions,
  convert,
  type MemoryFile,
  type OpenSink,
  type PlanOptions,
  planConversionTo as planConversion,
  type QuantizeOptions,
} from './api/convert.js'
// Deltas
export { type Applied, type ApplyOptions, applyDelta, type Delta, type DeltaOptions, makeDelta } from './api/delta.js'
// Opening models and reading tensors
export type { InputOptions, ModelInput } from './api/input.js'
export { isTareError } from './api/is-tare-error.js'
export { OpenModel, type OpenModelOptions, openModel } from './api/open-model.js'
export {
  type ArrayFor,
  type ReadAs,
  type ReadTensorOptions,
  readTensor,
  type SliceRanges,
  type TensorArray,
  type TensorData,
} from './api/read-tensor.js'
export { type Repaired, type RepairOptions, repair } from './api/repair.js'

// Asking about models
export {
  type DiffOptions,
  diff,
  type HashOptions,
  hash,
  type InspectOptions,
  inspect,
  type ModelInspection,
  type NamedStats,
  type StatsOptions,
  stats,
  type VerifyOptions,
  verify,
} from './api/verbs.js'
export {
  type ModelContent,
  modelOf,
  type TensorContent,
  type WriteModelOptions,
  writeModel,
} from './api/write-model.js'
// Where bytes come from and go to
export {
  BlobSource,
  type ByteSink,
  type ByteSource,
  MemorySink,
  MemorySource,
} from './bytes/index.js'
export type { Architecture } from './content/architecture.js'
export type { CacheSize } from './content/kv-cache.js'
export { type Merged, type MergeOptions, mergeModels } from './convert/merge/merge.js'
export type { Conversion, Loss, Plan, PlanAction } from './convert/plan.js'
export { type RunOptions, runConversion } from './convert/run.js'
export type { Difference } from './diff/index.js'
// What there is: formats, element types, digests
export { type Algorithm, algorithms } from './digest/index.js'
export { type DType, type DTypeId, dtypes } from './dtypes/index.js'
// Editing in place, and packing from a description
export { type Edits, type PlannedEdit, planEdit } from './edit/index.js'
// Tokenizers and embeddings
export { cosineSimilarity, createEmbedder, type Embedder, type EmbedderOptions, onnxEngine } from './embed/index.js'
export { type Finding, type Severity, TareError } from './errors/index.js'
export { type FormatId, formats } from './formats/list.js'
export type { HashResult } from './inspect/hash.js'
export type { Inspection } from './inspect/inspect.js'
export type { ModelSummary } from './inspect/summary.js'
export type { Format } from './model/index.js'
export {
  type JsonValue,
  type Limits,
  type Metadata,
  type MetaValue,
  type Model,
  type Part,
  type Payload,
  readPayload,
  type Tensor,
} from './model/index.js'
export { defineModel, type ModelDescription, packModel, parseDescription } from './pack/index.js'
// Pictures of tensors and models
export {
  type CellFigure,
  type ColorMap,
  colorMapNamed,
  colorMaps,
  type Drawing,
  drawHeatmap,
  drawHistogram,
  drawMethods,
  drawPixels,
  drawSvg,
  drawTensor,
  drawTreemap,
  encodePng,
  type HeatmapOptions,
  type HistogramOptions,
  type MeasuredMethods,
  type MeasureOptions,
  type MethodsOptions,
  measureMethods,
  type PictureSize,
  type Pixels,
  type ScaleKind,
  type TreemapOptions,
} from './picture/index.js'
export { type HttpOptions, HttpSource, type S3Credentials, type S3Options } from './remote/index.js'

// All cores
export type { WorkerPool } from './threads/index.js'
export { openWebPool, type WebPoolOptions } from './threads/web/pool.js'
export {
  createTextTokenizer,
  createTokenizer,
  findTextTokenizer,
  findVocabulary,
  type TextTokenizer,
  type Tokenizer,
  vocabularyFromText,
} from './tokenize/index.js'
export type { MethodName as QuantizeMethod } from './transforms/quantize/method.js'
export type { VerifyResult } from './verify/verify.js'
// Parts of tensors as numbers
export {
  type CodesOptions,
  hasCodes,
  type OverviewOptions,
  type Pooled,
  poolTensor,
  poolTensorSizes,
  poolWindow,
  previewTensor,
  quantileShares,
  readCodes,
  readWindow,
  type SampleOptions,
  type SampleStats,
  type SampleStatsOptions,
  sampleStats,
  type TensorWindow,
  type TensorWindowOptions,
  type WindowCodes,
} from './windows/index.js'
export type { WrittenFile } from './writing/write-layout.js'
