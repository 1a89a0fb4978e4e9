// Everything that the portable entry has, and what only Node can do: paths, standard input and output, threads, faster digests.
import { registerNodeHost } from './node/api-host.js'
import { registerNodeBytes } from './node/bytes.js'
import { registerNodeDigests } from './node/digests.js'
import { registerNodeZstd } from './node/zstd.js'

export * from './index.js'
// Signatures and bills of materials
export { type BomOptions, billOfMaterials } from './node/bom.js'
// Files
export { DiskStore, type DiskStoreOptions } from './node/files/disk-store.js'
export { FileSink, type FileSinkOptions } from './node/files/file-sink.js'
export { FileSource } from './node/files/file-source.js'
export { patchFile } from './node/files/patch-file.js'
// Jobs for many machines
export {
  discardJob,
  type FinishedJob,
  finishJob,
  type Job,
  type JobRunOptions,
  type JobStatus,
  jobStatus,
  type PlanJobOptions,
  type PlannedJob,
  planJob,
  readJob,
  type WorkDone,
  type WorkOnJobOptions,
  workOnJob,
  writeJob,
} from './node/jobs/index.js'
// Threads and engines
export { type NodeOnnxOptions, nodeOnnxEngine } from './node/onnx-engine.js'
export { openOutput } from './node/output.js'
export { type PackFileOptions, packFile } from './node/pack/pack-module.js'
export {
  type KeylessTrust,
  readCertificates,
  readPrivateKey,
  readPublicKey,
  type SignatureOptions,
  type SignatureResult,
  type SigningKey,
  type SignOptions,
  type SignResult,
  signModel,
  type Trust,
  verifySignature,
} from './node/trust/index.js'
export { openPool, type PoolOptions } from './threads/node/pool.js'

registerNodeHost()
registerNodeBytes()
registerNodeDigests()
registerNodeZstd()
