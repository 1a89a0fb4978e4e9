// A model is an index: names, types, shapes and where the bytes are. It contains no tensor data.
import type { ByteSource } from '../bytes/index.js'
import type { Finding } from '../errors/index.js'
import type { WorkerPool } from '../threads/index.js'
import type { JsonValue, Metadata } from './metadata.js'
import type { Payload } from './payload.js'
import type { Tensor } from './tensor.js'

/**
 * Something in a model that is neither tensor nor metadata. Shared parts mean the same in every format (a vocabulary, a tokenizer file);
 * private parts are understood only by their owner; derived parts are computed again when the file is written.
 */
export interface Part {
  readonly kind: string
  readonly sharing: 'shared' | 'private' | 'derived'
  /** The id of the format that owns it, if that is not the model's. */
  readonly owner?: string | undefined
  /** Distinguishes parts of one kind: a file name, a chunk name. */
  readonly name?: string | undefined
  /** What `inspect` shows: small, and safe to print as JSON. */
  readonly value: JsonValue
  /** The content, if the value above is only a summary. */
  readonly data?: Payload | undefined
  /** The content in the form that code uses; its type depends on the kind. */
  readonly content?: unknown
}

export interface DamageOptions {
  /** The names of the tensors whose bytes matter. Absent: everything is compared. */
  readonly only?: ReadonlySet<string> | undefined
  readonly signal?: AbortSignal | undefined
  readonly pool?: WorkerPool | undefined
  readonly onProgress?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

/** Compares the checksums of a file with its bytes, and reports damage. */
export type DamageFinder = (options: DamageOptions) => Promise<readonly Finding[]>

export interface Model {
  /** The id of the format it was read from. */
  readonly format: string
  readonly version?: string | undefined
  /** Which of a format's layouts the file uses, if there are several. */
  readonly variant?: string | undefined
  /** The format that the model was made for, if its container only carries it. */
  readonly origin?: Pick<Model, 'format' | 'version' | 'variant'> | undefined
  readonly metadata: Metadata
  readonly tensors: readonly Tensor[]
  readonly parts: readonly Part[]
  /** All files of the model, the one that was opened first. */
  readonly files: readonly ByteSource[]
  /** One for each file (or set of files) whose format has checksums. Set by opening; run by `findDamage`. */
  readonly damageFinders?: readonly DamageFinder[] | undefined
  /** Errors that opening tolerates and verifying does not, such as one unreadable array of several. */
  readonly flaws?: readonly Finding[] | undefined
}

export const totalSize = (model: Model): number => model.files.reduce((sum, file) => sum + file.size, 0)

/** Closes every file of a model. */
export async function closeModel(model: Model): Promise<void> {
  await Promise.all(model.files.map((file) => file.close()))
}

/** The name and architecture of a model; empty if unknown. */
export interface ModelNames {
  readonly name: string
  readonly architecture: string
}
