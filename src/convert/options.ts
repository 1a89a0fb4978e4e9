// Everything that a conversion can be asked for.
import type { Model, Part, WriteOptions } from '../model/index.js'
import type { WorkerPool } from '../threads/index.js'
import type { MatrixOrigin } from '../transforms/quantize/importance.js'
import type { MethodOptions } from '../transforms/quantize/plan.js'
import type { Clip, CodeSet, Mode } from '../transforms/quantize/quantize.js'
import type { PlanAction } from './actions.js'
import type { Setting } from './stages/typed-value.js'

interface TensorOptions {
  readonly only?: readonly string[] | undefined
  readonly exclude?: readonly string[] | undefined
  readonly rename?: readonly string[] | undefined
  /** What single tensors are to be called; rules are for the others. */
  readonly renameMap?: ReadonlyMap<string, string> | undefined
  /** Where the target wants another order of elements, reverse the dims over the same bytes instead of moving elements. */
  readonly keepBytes?: boolean | undefined
}

/** The bytes of all files together, or the average over all tensors. */
export type SizeTarget = { readonly size: number } | { readonly bits: number }

export interface QuantizeSettings extends MethodOptions {
  /** A method is chosen for each tensor so that the output has this size; those that the caller names stay. */
  readonly target?: SizeTarget | undefined
  readonly mode?: Mode | undefined
  /** Whether the most negative code, which the document leaves unused, is used too. */
  readonly codes?: CodeSet | undefined
  /** Values of all quantized tensors are cut to this range first. */
  readonly clip?: Clip | undefined
  /**
   * Read all values beforehand: what cannot be quantized is refused before anything is written, and the container's records get the range
   * of the values. Without it the sizes are the same, and the records say that the range is not known.
   */
  readonly scan?: boolean | undefined
  /** Where the importance weights come from, for the metadata of models of llama.cpp. */
  readonly importanceOrigin?: MatrixOrigin | undefined
  /** Called as values are read to choose scales. */
  readonly onScan?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

interface RecodeOptions {
  /** Float tensors become this type; all others stay as they are. */
  readonly cast?: string | undefined
  /** Quantized tensors whose names match become floats: f32, or what `cast` says. */
  readonly dequantize?: readonly string[] | undefined
  /** Weights that are packed in several tensors become f32, all of them. */
  readonly unpack?: boolean | undefined
  /** Large matrices of floats are quantized, each by its method. */
  readonly quantize?: QuantizeSettings | undefined
  /** Threads for what planning itself takes long for. */
  readonly pool?: WorkerPool | undefined
}

interface MetadataOptions {
  readonly name: string
  /** An entry that is there keeps its place and, where none is given, its type; a new one is text. */
  readonly set?: readonly Setting[] | undefined
  readonly unset?: readonly string[] | undefined
}

interface FileOptions {
  /** False: without the files that belong to the model. */
  readonly files?: boolean | undefined
  /** Names or kinds of parts to leave out. */
  readonly without?: readonly string[] | undefined
  /** The output is a directory of its own, so that files can lie in it. */
  readonly folder?: boolean | undefined
}

/** What planning finds by reading values. With it the same plan is made without reading them again. */
export interface Resolved {
  /** The methods that a size leads to, by the names of tensors. */
  readonly methods?: ReadonlyMap<string, string> | undefined
  /** The ranges of values that the records of the container state, by the positions of tensors. */
  readonly ranges?: ReadonlyMap<number, Clip> | undefined
  /** Tensors that have the bytes of another one, which are stored once; both by their positions. */
  readonly shared?: ReadonlyMap<number, number> | undefined
}

/** What planning reads values for: their range, the methods that a tensor could take with their sizes and errors, the digest of its bytes. */
export type LookKind = 'range' | 'methods' | 'digest'

/** Has values looked at. `costs` are those of each look, in nanoseconds; the answers are what `look` finds for each, in order. */
export type LookAt = (
  kind: LookKind,
  costs: readonly number[],
  look: (place: number, signal?: AbortSignal) => Promise<unknown>,
) => Promise<readonly unknown[]>

export interface ConvertOptions extends TensorOptions, RecodeOptions, MetadataOptions, FileOptions {
  /** What was done to the model before it came here; it stands first in the plan. */
  readonly before?: Iterable<PlanAction> | undefined
  /** False: what the target has no place for is dropped, not put into its metadata; and nothing that was put there comes back. */
  readonly stow?: boolean | undefined
  /** Names and weights are copied as they are, even if the model could be translated into the conventions of the target. */
  readonly asIs?: boolean | undefined
  /** llama.cpp's name for the way in which the tokenizer splits text, for model directories whose tokenizer is not recognised. */
  readonly preTokenizer?: string | undefined
  /** Leave linear weights the way round that they have, whatever the target wants. */
  readonly keepOrientation?: boolean | undefined
  /** Without what an optimizer keeps beside the weights. */
  readonly dropState?: boolean | undefined
  /** Take such state from this model; the model itself turns tensors called `parameter#statistic` into state. */
  readonly stateFrom?: Model | undefined
  /** Parts to add, in place of those of the same kind and name. */
  readonly parts?: readonly Part[] | undefined
  /** Tensors with the same type, shape and bytes are stored once, where the target can do that. */
  readonly dedup?: boolean | undefined
  readonly shardSize?: number | undefined
  readonly align?: number | undefined
  readonly deterministic?: boolean | undefined
  readonly rewrite?: WriteOptions['rewrite']
  readonly extra?: WriteOptions['extra']
  readonly signal?: AbortSignal | undefined
  /** What an earlier plan for the same input found. */
  readonly resolved?: Resolved | undefined
  /** For those who have it done elsewhere. Default: planning does it, with the threads of `pool`. */
  readonly lookAt?: LookAt | undefined
  /** Called between two steps of planning, where much of what was needed so far no longer is. */
  readonly collectGarbage?: (() => void) | undefined
}
