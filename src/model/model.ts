// A model is an index: names, types, shapes and where the bytes are. Nothing in it holds a tensor's data.
import type { ByteSource } from '../bytes/index.js'
import type { Finding } from '../errors/index.js'
import type { WorkerPool } from '../threads/index.js'
import type { JsonValue, Metadata } from './metadata.js'
import type { Payload } from './payload.js'
import type { Tensor } from './tensor.js'

/**
 * Something in a model that is neither tensor nor metadata. Shared parts mean the same in every format (a vocabulary, a tokenizer
 * file); private parts are bytes that only their owner understands; derived parts are computed anew when the file is written.
 */
export interface Part {
  readonly kind: string
  readonly sharing: 'shared' | 'private' | 'derived'
  /** The id of the format that it belongs to, where that is not the model's. */
  readonly owner?: string | undefined
  /** Tells several parts of a kind apart: a file name, a chunk name. */
  readonly name?: string | undefined
  /** What `inspect` shows: small, and safe to print as JSON. */
  readonly value: JsonValue
  /** The content, where the value above is only a summary. */
  readonly data?: Payload | undefined
  /** The content in the form that code works with; its type goes with the kind. */
  readonly content?: unknown
}

export interface DamageOptions {
  /** The names of the tensors whose bytes matter; absent: everything is compared. */
  readonly only?: ReadonlySet<string> | undefined
  readonly signal?: AbortSignal | undefined
  readonly pool?: WorkerPool | undefined
  readonly onProgress?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

/** Compares the checksums of a file with its bytes, and tells what is damaged. */
export type DamageFinder = (options: DamageOptions) => Promise<readonly Finding[]>

export interface Model {
  /** The id of the format it was read from. */
  readonly format: string
  readonly version?: string | undefined
  /** Which of a format's layouts it has, where there is more than one. */
  readonly variant?: string | undefined
  /** The format that the model was made for, where its container only carries it. */
  readonly origin?: Pick<Model, 'format' | 'version' | 'variant'> | undefined
  readonly metadata: Metadata
  readonly tensors: readonly Tensor[]
  readonly parts: readonly Part[]
  /** Every file that the model consists of, the one that was opened first. */
  readonly files: readonly ByteSource[]
  /** One for each file (or set of files) whose format has checksums. Opening sets them; `findDamage` runs them. */
  readonly damageFinders?: readonly DamageFinder[] | undefined
  /** Errors that opening the file can live with, and verifying it cannot: one of several arrays that cannot be read, say. */
  readonly flaws?: readonly Finding[] | undefined
}

export const totalSize = (model: Model): number => model.files.reduce((sum, file) => sum + file.size, 0)

/** Closes every file of a model. */
export async function closeModel(model: Model): Promise<void> {
  await Promise.all(model.files.map((file) => file.close()))
}

/** What a model is called and of which architecture it is; empty where nothing says so. */
export interface ModelNames {
  readonly name: string
  readonly architecture: string
}
