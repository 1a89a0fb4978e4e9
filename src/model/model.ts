// A model is an index: names, types, shapes and where the bytes are. It contains no tensor data.
import { type ByteSource, coveredBytes, type Range } from '../bytes/index.js'
import type { DType } from '../dtypes/dtype.js'
import type { Finding } from '../errors/index.js'
import type { WorkerPool } from '../threads/index.js'
import type { JsonValue, Metadata } from './metadata.js'
import { type Payload, recipeOf } from './payload.js'
import type { TensorRecipe } from './recipe.js'

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

/** A model as an index: what it contains and where the bytes are. */
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

/** Affine quantization that a container states beside the tensor: real = scale · (stored − zero point). */
export interface QuantParams {
  readonly scheme: 'symmetric' | 'asymmetric'
  /** The dimension that scales vary along; undefined if one scale applies to the whole tensor. */
  readonly axis?: number | undefined
  readonly scales: readonly number[]
  readonly zeroPoints?: readonly number[] | undefined
}

/** A tensor: its name, type and shape, and a payload with its bytes. */
export interface Tensor {
  readonly name: string
  /** The file has no name for it, so it is named after the file. */
  readonly isNamedByFile?: true | undefined
  /** In hierarchical formats, the names from the root down; `name` joins them. */
  readonly path?: readonly string[] | undefined
  /** The bytes of the name if they are not UTF-8, one entry per segment of `path` (or one for `name`). */
  readonly rawName?: readonly Uint8Array[] | undefined
  readonly dtype: DType
  /** The type inside a `packed` tensor, if its codec is known. */
  readonly encoding?: DType | undefined
  /** Logical dimensions, outermost first, whatever the order of the stored bytes. */
  readonly shape: readonly number[]
  /** The exact shape, for tensors without elements or data whose dimensions no number holds. See `exactDims`. */
  readonly exactShape?: readonly bigint[] | undefined
  readonly order: 'row' | 'column'
  /** `state` belongs to an optimizer. */
  readonly role: 'weight' | 'state'
  /** The name of the statistic, for optimizer moments of a parameter. */
  readonly stat?: string | undefined
  /** null: declared, but without data. */
  readonly data: Payload | null
  readonly quant?: QuantParams | undefined
  /** What only the owner format says about this tensor, for `inspect` and for writing it back. */
  readonly extra?: Readonly<Record<string, JsonValue>> | undefined
}

/** How another thread can produce the bytes; undefined if only this one can, or there are none. */
export function tensorRecipe(tensor: Tensor): TensorRecipe | undefined {
  const data = recipeOf(tensor.data)
  const { name, dtype, encoding, shape, order } = tensor
  return data && { name, dtype: dtype.id, encoding: encoding?.id, shape, order, data }
}

// Dimensions beyond 2^53-1. Only tensors without data or without elements can have them, so no code computes with them; but they are shown,
// compared and written as the file states them. Such numbers are rarely exact, so the exact ones are kept beside them (`exactShape`).

/** A dimension for display and JSON: decimal digits beyond 2^53-1. */
export type Dim = number | string

export type Shape = Pick<Tensor, 'shape' | 'exactShape'>

/** The shape of a tensor with these dimensions. */
export function shapeOfDims(dims: readonly (number | bigint)[]): Shape {
  const shape = dims.map(Number)
  const isExact = dims.every((dim, i) => BigInt(dim) === BigInt(shape[i]!))
  return isExact ? { shape } : { shape, exactShape: dims.map(BigInt) }
}

/** The same from displayed dimensions. */
export const shapeOfShown = (dims: readonly Dim[]): Shape =>
  shapeOfDims(dims.map((dim) => (typeof dim === 'string' ? BigInt(dim) : dim)))

/** Numbers up to 2^53-1, beyond that exact integers. */
export function exactDims({ shape, exactShape }: Shape): readonly (number | bigint)[] {
  if (shape.every(Number.isSafeInteger)) return shape
  return shape.map((dim, i) => {
    if (Number.isSafeInteger(dim)) return dim
    const exact = exactShape?.[i]
    // The tensor may have been given another shape since.
    return exact !== undefined && Number(exact) === dim ? exact : BigInt(dim)
  })
}

export function shownDims(shape: Shape): readonly Dim[] {
  const dims = exactDims(shape)
  return dims === shape.shape ? shape.shape : dims.map((dim) => (typeof dim === 'bigint' ? dim.toString() : dim))
}

/** `[2, 3]` */
export const formatDims = (shape: Shape): string => `[${shownDims(shape).join(', ')}]`

/** The shape of the tensor before, where that is the same: one list then serves both, which saves time and memory in a long row of tensors. */
export function sharedShape(shape: readonly number[], before: Tensor | undefined): readonly number[] {
  const isSame = before?.shape.length === shape.length && shape.every((dim, i) => dim === before.shape[i])
  return isSame ? before.shape : shape
}

/**
 * How much of a model's files is index: everything that is neither tensor data nor one of the parts `apart`, which have bytes of their own.
 * Bytes that several tensors share count once.
 */
export function indexSize(model: Model, apart: readonly Part[]): number {
  const byFile = new Map<string, Range[]>()
  for (const { data } of [...model.tensors, ...apart]) {
    if (!data?.origin) continue
    const { source, offset, length } = data.origin
    const range = { start: offset, end: offset + length }
    const known = byFile.get(source.name)
    if (known) known.push(range)
    else byFile.set(source.name, [range])
  }
  let covered = 0
  for (const ranges of byFile.values()) covered += coveredBytes(ranges)
  return Math.max(0, totalSize(model) - covered)
}
