export type { JobRequest } from '../jobs/make-job.js'
export { secretsOf } from '../remote/shown-address.js'
export { openPool, type PoolOptions } from '../threads/node/pool.js'
export { type BomOptions, billOfMaterials } from './bom.js'
export { type Fetched, fetchFiles, filesAt, type RemoteFile } from './fetch/index.js'
export { openSpool } from './files/append-spool.js'
export { DiskStore, type DiskStoreOptions } from './files/disk-store.js'
export { recoverEdit } from './files/edit-journal.js'
export type { FileSinkOptions } from './files/file-sink.js'
export { FileSource } from './files/file-source.js'
export { type PatchedHow, patchFile } from './files/patch-file.js'
export { editJournalFor } from './files/temp-files.js'
export { openPartOf } from './files-of-model.js'
export { findModels, isPipeline } from './find-models.js'
export { collectGarbage, keepHeapSmall } from './heap.js'
export { type InputOptions, openInput } from './input.js'
export {
  discardJob,
  finishJob,
  type JobRunOptions,
  type JobStatus,
  jobStatus,
  type PlannedJob,
  startJob,
  workOnJob,
  writeJob,
} from './jobs/index.js'
export { readNameMap } from './name-map.js'
export { type NodeOnnxOptions, nodeOnnxEngine } from './onnx-engine.js'
export { type OutputOptions, openOutput, pathIn } from './output.js'
export { type PackFileOptions, packFile } from './pack/pack-module.js'
export { parseQueue } from './queue/connection.js'
export { QueuePool } from './queue/pool.js'
export { planOnQueue, submitJob } from './queue/submit.js'
export { serveQueue } from './queue/worker.js'
export { isMissing, isRemote, openNamedRemote, openRemote, type RemoteOptions } from './remote/remote-input.js'
export { transferTo } from './remote/transfer.js'
export * from './trust/index.js'
export { abortUploads, type UnfinishedCounts, unfinished } from './unfinished.js'
export { loadView, type ServedModels, type ViewServer } from './view/index.js'
