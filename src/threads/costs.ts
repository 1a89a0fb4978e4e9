// All measured costs in one table. They decide whether work is worth handing to threads and how it is split, so only their proportions
// matter: a factor of two between machines changes little. Measured on one core at about 3 GHz with the script named beside each; measure
// again after changing the code behind a row.
import { declaredCost } from '../digest/hasher.js'
import { type Algorithm, digestProviderName } from '../digest/index.js'
import type { WorkerPool } from './job.js'

/** Nanoseconds. */
export const threadCosts = {
  /** Starting a worker thread in Node, from the first job to the first answer (bench/work/with-threads.mjs, its first round). */
  start: 40e6,
  /** Starting a Web Worker: its file is fetched and compiled. 16 to 50 ms from a nearby server, more from others. */
  webStart: 100e6,
  /** A job on a running thread, as a share of a start: the messages, and loading code for another kind of work. */
  runningShare: 1 / 20,
  /** A thread must load and optimize its code before it computes at full speed: work is shared from this many starts on. */
  computeStarts: 8,
  /** The same for a thread that hashes a stream while it is written. */
  streamStarts: 3,
  /** The minimum length of a slice of a recoded payload, so that handing it over is negligible. */
  slice: 16e6,
  minSlice: 4e6,
}

/** Nanoseconds per byte. */
export const byteCosts = {
  /** Reading a file from the system's page cache (bench/work/read-threads.mjs). */
  read: 0.11,
  /** Copying the output of another thread. */
  handOver: 0.3,
  /** Comparing the stored bytes of two tensors, per byte of each side (bench/cases/diff.mjs). */
  compare: 0.2,
  /** Finding the range of values before they are quantized (bench/kernels/mcf.mjs). */
  scan: 0.2,
  /** Quantizing f32 for MCF (bench/kernels/mcf.mjs). */
  quantize: 2,
  /** Rounding f32 to whole numbers (bench/kernels/mcf.mjs). */
  whole: 0.4,
  /** Hashing a stream, with any algorithm. */
  digestStream: 0.5,
  /** An upper bound for recoding or hashing, for memory estimates: threads count as soon as they may be started. */
  maxWork: 4,
}

/** Nanoseconds per value (bench/kernels/decode.mjs, ggml-encode.mjs, stats.mjs). */
export const valueCosts = {
  /** Encoding a block of 256 or more values requires a search for their scales. */
  encodeLongBlock: 40,
  encodeBlock: 1.6,
  /** Decoding to f32 or f64. */
  widen: 0.4,
  /** Encoding to a type shorter than four bytes. */
  narrow: 0.8,
  /** Decoding packed weights (GPTQ, AWQ and the like) to f32. */
  unpack: 4,
  /** Decoding and comparing the numbers of two tensors, per pair (bench/cases/diff.mjs). */
  compare: 2,
  /** Both passes of statistics. */
  statistics: 3.3,
}

/** Nanoseconds per byte, by what computes the digest (bench/kernels/digest.mjs). */
const digestCosts: Readonly<Record<Algorithm, Readonly<Record<string, number>>>> = {
  blake3: { '@napi-rs/blake-hash': 0.26, WebAssembly: 0.55, plain: 20 },
  sha256: { crypto: 0.67, 'hash-wasm': 2.5 },
  crc32: { zlib: 0.25, WebAssembly: 0.33, plain: 3.7 },
}

/** Nanoseconds per byte for the registered provider of an algorithm: declared by it, or measured. */
export async function digestCost(algorithm: Algorithm): Promise<number> {
  return (
    (await declaredCost(algorithm)) ??
    digestCosts[algorithm][(await digestProviderName(algorithm)).replace(/^node:/, '')] ??
    1
  )
}

/** Nanoseconds per byte for a BLAKE3 subtree, which only our own kernels compute. */
export const subtreeCost = (kernel: string): number => digestCosts.blake3[kernel]!

/** Whether work that takes this thread `cost` nanoseconds is done sooner by several. */
export function isWorthComputing(pool: WorkerPool | undefined, cost: number): pool is WorkerPool {
  return pool !== undefined && cost > 0 && cost >= threadCosts.computeStarts * pool.startCost
}

/** Minimum sizes for hashing a payload on several threads while it is produced, and for starting threads before a file is verified. */
export const minThreadBytes = { digest: 64 << 20, verify: 256 << 20 }
