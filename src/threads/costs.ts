// Every measured cost in one table. They decide whether work is worth handing to threads and how it is cut up, so only their proportions
// matter: a factor of two between machines changes little. Measured on one core at about 3 GHz with the script that is named; measure again
// after a change to the code behind a row.
import { declaredCost } from '../digest/hasher.js'
import { type Algorithm, digestProviderName } from '../digest/index.js'

/** Nanoseconds. */
export const threadCosts = {
  /** A worker thread of Node, from the first job to the first answer (bench/work/with-threads.mjs, its first round). */
  start: 40e6,
  /** A Web Worker: its file is fetched and compiled. 16 to 50 ms from a server nearby; others are farther away. */
  webStart: 100e6,
  /** The share of a start that a job on a running thread still costs: the way there, and loading code for another kind of work. */
  runningShare: 1 / 20,
  /** Before a thread computes at full speed it has loaded and optimized its code: work is shared out from this many starts on. */
  computeStarts: 8,
  /** The same for a thread that hashes a stream while it is written. */
  streamStarts: 3,
  /** A slice of a recoded payload: so long that handing it over is negligible, and at least so long. */
  slice: 16e6,
  minSlice: 4e6,
}

/** Nanoseconds per byte. */
export const byteCosts = {
  /** Reading a file that the system has in memory (bench/work/read-threads.mjs). */
  read: 0.11,
  /** Copying what another thread has made. */
  handOver: 0.3,
  /** Comparing the stored bytes of two tensors, per byte of each side (bench/cases/diff.mjs). */
  compare: 0.2,
  /** Finding the range of values before they are quantized (bench/kernels/mcf.mjs). */
  scan: 0.2,
  /** Quantizing f32 for MCF (bench/kernels/mcf.mjs). */
  quantize: 2,
  /** Hashing a stream, whichever the algorithm. */
  digestStream: 0.5,
  /** An upper bound for recoding or hashing, for estimates of memory: threads count as soon as they may be started. */
  maxWork: 4,
}

/** Nanoseconds per value (bench/kernels/decode.mjs, ggml-encode.mjs, stats.mjs). */
export const valueCosts = {
  /** Encoding a block of 256 or more values takes a search for their scales. */
  encodeLongBlock: 40,
  encodeBlock: 1.6,
  /** Decoding to f32 or f64. */
  widen: 0.4,
  /** Encoding to a type of less than four bytes. */
  narrow: 0.8,
  /** Both passes of statistics. */
  statistics: 3.3,
}

/** Nanoseconds per byte, by what computes the digest (bench/kernels/digest.mjs). */
const digestCosts: Readonly<Record<Algorithm, Readonly<Record<string, number>>>> = {
  blake3: { '@napi-rs/blake-hash': 0.26, WebAssembly: 0.55, plain: 20 },
  sha256: { 'node:crypto': 0.67, 'hash-wasm': 2.5 },
  crc32: { 'node:zlib': 0.25, WebAssembly: 0.33, plain: 3.7 },
}

/** Nanoseconds per byte for the registered provider of an algorithm: what it declares, or what was measured. */
export async function digestCost(algorithm: Algorithm): Promise<number> {
  return (await declaredCost(algorithm)) ?? digestCosts[algorithm][await digestProviderName(algorithm)] ?? 1
}

/** Nanoseconds per byte for a subtree of BLAKE3, which only our own kernels give. */
export const subtreeCost = (kernel: string): number => digestCosts.blake3[kernel]!

/** Bytes from which on it is worth to hash a payload on several threads while it is made, and to start threads before a file is verified. */
export const minThreadBytes = { digest: 64 << 20, verify: 256 << 20 }
