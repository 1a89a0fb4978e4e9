// What tools are built from: the contract of formats, reports and codes, sources and cursors, layouts, plans and their stages, threads. It
// runs in browsers, workers and Node alike. Names here may change with a minor version; those of `tare` do not.
export * from './all-codes.js'
export { openSource } from './api/input.js'
export { isTareError } from './api/is-tare-error.js'
export * from './bytes/index.js'
export { type Vocabulary, vocabularyOf } from './content/vocabulary.js'
export { exportVocabulary, parseVocabularyText, type VocabularyText } from './content/vocabulary-text.js'
export * from './convert/extract/extract.js'
export * from './convert/extract/extract-part.js'
export { type IntoGraph, type IntoGraphOptions, putIntoGraph } from './convert/into-graph.js'
export { type Merged, type MergeOptions, mergeModels } from './convert/merge/merge.js'
export { asWritten } from './convert/original.js'
export * from './convert/plan.js'
export * from './convert/quantize.js'
export {
  makeReceipt,
  type Receipt,
  type ReceiptAction,
  type ReceiptEntry,
  type ReceiptFile,
  type ReceiptSide,
  type ReceiptTensor,
  receiptLines,
} from './convert/receipt.js'
export * from './convert/repair/repair.js'
export * from './convert/run.js'
export type { Stage, State } from './convert/stages/state.js'
export { type Setting, settableTypes, settingOf } from './convert/stages/typed-value.js'
export * from './delta/index.js'
export * from './diff/index.js'
export * from './digest/index.js'
export {
  type Codec,
  type Complex,
  type DType,
  type DTypeId,
  type DTypeKind,
  dtypeById,
  dtypes,
  type GgmlType,
  ggmlTypeByName,
  ggmlTypeByNumber,
  type Scalar,
} from './dtypes/index.js'
export { shortestF32 } from './dtypes/shortest.js'
export * from './edit/index.js'
export * from './embed/index.js'
export * from './errors/index.js'
export * from './formats/index.js'
export * from './inspect/hash.js'
export * from './inspect/inspect.js'
export * from './inspect/map.js'
export { type ModelStatsOptions, statsOfTensors } from './inspect/model-stats.js'
export * from './inspect/quality.js'
export * from './inspect/show.js'
export * from './inspect/stats.js'
export { type ModelSummary, summarizeModel } from './inspect/summary.js'
export * from './model/index.js'
export * from './pack/index.js'
export {
  describePacking,
  findPacking,
  findWeight,
  membersOf,
  type PackedWeight,
  type Packing,
  packingOf,
  unpackModel,
  unpackWeight,
} from './packed/index.js'
export * from './picture/index.js'
export * from './remote/index.js'
export { restoreStowed } from './stow/index.js'
export {
  type Job,
  type JobHandler,
  type RunOptions as JobOptions,
  serveJobs,
  ThreadPool,
  type WorkerPool,
} from './threads/index.js'
export { releaseSharedWindow, takeSharedWindow } from './threads/shared-window.js'
export { openWebPool, type WebPoolOptions } from './threads/web/pool.js'
export * from './tokenize/index.js'
export { castLoss, castTensor } from './transforms/cast.js'
export { decodedPayload } from './transforms/decode.js'
export { type MatrixOrigin, originOf, readImportance } from './transforms/quantize/importance.js'
export type { MethodName } from './transforms/quantize/method.js'
export { methodNames, mixNames } from './transforms/quantize/method.js'
export { type MethodChoice, type MethodOptions, planMethods } from './transforms/quantize/plan.js'
export { quantizeTensor } from './transforms/quantize/quantize.js'
export { columnMajor, rowMajor, transposed } from './transforms/reorder.js'
export { matchesGlob, parseRename, renameTensor, selector } from './transforms/select.js'
export * from './trust/index.js'
export { checkProfile, type Profile, type ProfileTensor } from './verify/profile.js'
export { profiles, requireProfile } from './verify/profiles/index.js'
export { parseReceipt } from './verify/read-receipt.js'
export { checkReceipt, type ReceiptOptions } from './verify/receipt.js'
export * from './verify/verify.js'
export * from './windows/index.js'
export { type CutOptions, cutFile, type FilePart } from './writing/ranges/cut-file.js'
export { finishFile } from './writing/ranges/finish-file.js'
export type { DigestShare } from './writing/ranges/range-digests.js'
export {
  type OutputRange,
  type PlacedBytes,
  type RangeOptions,
  type RangeSums,
  rangeOf,
} from './writing/ranges/range-of.js'
export * from './writing/write-layout.js'
