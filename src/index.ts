// The public names. This entry runs in browsers, workers and Node alike; `tare/node` adds files.
export * from './all-codes.js'
export {
  BlobSource,
  type ByteRange,
  type ByteSink,
  type ByteSource,
  CountingSink,
  countElements,
  countingSource,
  type Extent,
  MemorySink,
  MemorySource,
  type OpenHint,
  type ReadCount,
  type ReadOptions,
  type SourceFolder,
  toHex,
} from './bytes/index.js'
export { type Vocabulary, vocabularyOf } from './content/vocabulary.js'
export { exportVocabulary, parseVocabularyText, type VocabularyText } from './content/vocabulary-text.js'
export * from './convert/extract/extract.js'
export * from './convert/extract/extract-part.js'
export { type Merged, type MergeOptions, mergeModels } from './convert/merge/merge.js'
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
export { type Setting, settableTypes, settingOf } from './convert/stages/typed-value.js'
export * from './diff/index.js'
export * from './digest/index.js'
export {
  type Codec,
  type Complex,
  type DType,
  type DTypeKind,
  dtypeById,
  dtypes,
  type GgmlType,
  ggmlTypeByName,
  ggmlTypeByNumber,
  type Scalar,
} from './dtypes/index.js'
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
export * from './model/index.js'
export * from './pack/index.js'
export * from './remote/index.js'
export { restoreStowed } from './stow/index.js'
export type { Job, RunOptions, WorkerPool } from './threads/index.js'
export { openWebPool, type WebPoolOptions } from './threads/web/pool.js'
export * from './tokenize/index.js'
export { castLoss, castTensor } from './transforms/cast.js'
export { decodedPayload } from './transforms/decode.js'
export { type MethodChoice, type MethodOptions, planMethods } from './transforms/quantize/plan.js'
export { quantizeTensor } from './transforms/quantize/quantize.js'
export { columnMajor, rowMajor, transposed } from './transforms/reorder.js'
export { matchesGlob, parseRename, renameTensor, selector } from './transforms/select.js'
export { checkProfile, type Profile, type ProfileTensor } from './verify/profile.js'
export { profiles, requireProfile } from './verify/profiles/index.js'
export { parseReceipt } from './verify/read-receipt.js'
export { checkReceipt, type ReceiptOptions } from './verify/receipt.js'
export * from './verify/verify.js'
export * from './writing/write-layout.js'
