// The contract of a format. Everything outside a format's folder works through it and asks capabilities, never ids.
import type { ByteSource, ExtentRecorder, OpenHint } from '../bytes/index.js'
import type { Code, CodeTable, Report } from '../errors/index.js'
import type { RunThreads, WorkerPool } from '../threads/index.js'
import type { FileLayout, Layout } from './layout.js'
import type { MetaValue } from './metadata.js'
import type { Model, ModelNames, Part, Tensor } from './model.js'
import type { Orientation } from './orientation.js'
import type { VerifiedPayload } from './verified.js'

/** Bounds on the memory and time that a parser may take; no real file needs more. The caller can raise them. */
export interface Limits {
  /** The maximum number of index bytes (header, tables, metadata) that are read into memory. */
  readonly indexBytes: number
  /** The maximum nesting of metadata. */
  readonly depth: number
  /** The maximum size of tensors as a multiple of the stored bytes, for formats where one byte can stand for many. */
  readonly expansion: number
}

export const defaultLimits: Limits = { indexBytes: 1 << 30, depth: 128, expansion: 16 }

/** A tensor, or something else, that a damaged file no longer contains in full. */
export interface Lost {
  readonly subject: 'tensor' | 'metadata' | 'part'
  /** Absent if not even the name is known. */
  readonly name?: string | undefined
  /** Its length, if the file states it. */
  readonly length?: number | undefined
  readonly reason: string
}

export interface ReadContext {
  readonly report: Report
  readonly extents?: ExtentRecorder | undefined
  readonly signal?: AbortSignal | undefined
  readonly limits: Limits
  /** Accept, with a warning, what the format's own readers accept beyond its specification. */
  readonly lenient: boolean
  /**
   * Opens a location that an index names outside its own directory: an address, or a path relative to the index, which is `from`. Absent:
   * such locations are refused.
   */
  readonly openElsewhere?: ((location: string, from: ByteSource, hint?: OpenHint) => Promise<ByteSource>) | undefined
  /** Only these tensors will be read: a reader that finds all of them may leave out the files of a set that hold none of them. */
  readonly wanted?: ReadonlySet<string> | undefined
  /** Every read is a request, and few tensors will be read: what only repeats the index may be compared with it when a tensor is read. */
  readonly isSparing?: boolean | undefined
  /**
   * Set when everything intact is to be saved from a damaged file: the reader continues as far as it can, even where it would otherwise
   * give up, and reports what it leaves out.
   */
  readonly onLost?: ((lost: Lost) => void) | undefined
}

export interface CheckContext extends ReadContext {
  /** Values of the options that the format declares for checking. */
  readonly extra: OptionValues
  /** Only checksums over the bytes of these tensors are compared. Absent: all. */
  readonly only?: ReadonlySet<string> | undefined
  /** Counts bytes that a check has examined. */
  checked(bytes: number): void
  /** Threads that large work can be spread over. */
  readonly pool?: WorkerPool | undefined
}

export interface WriteOptions {
  /** The file name of the output, for formats that write several files. */
  readonly name: string
  /** The same input gives the same bytes: no random ids, no times. */
  readonly deterministic?: boolean
  readonly shardSize?: number | undefined
  readonly align?: number | undefined
  /** The name and architecture of the model, as far as they are stated anywhere. Absent: as stated by its metadata. */
  readonly names?: (() => Promise<ModelNames>) | undefined
  /** Nothing is copied as stored, even if unchanged, because something about the file is wrong. */
  readonly rewrite?: boolean | undefined
  /** Write the file that the format's reference program would make by quantizing the model, byte for byte. */
  readonly likeReference?: boolean | undefined
  /** Values of the options that the target format declares. */
  readonly extra?: OptionValues | undefined
  readonly signal?: AbortSignal | undefined
  /** The threads of the run, known when the layout is written. */
  readonly threads?: RunThreads | undefined
}

/** The target's answer about one thing it is asked to store. `as` is absent if it fits unchanged. */
export interface Fit<T> {
  readonly fits: boolean
  readonly reason?: string
  readonly as?: T
  /** What is lost. Default: `content` if it does not fit, and `form` if it fits in another form that is not restored on reading. */
  readonly loss?: 'none' | 'form' | 'precision' | 'content'
}

/** What a format can store, as answers to questions. Conversions are planned from these alone. */
export interface WriteCapabilities {
  /** Whether the element type can be stored; if not, why. */
  tensor(tensor: Tensor): Fit<Tensor>
  metadata(key: string, value: MetaValue): Fit<MetaValue>
  part(part: Part): Fit<Part>
  /** Why a part of the format's own is not written again byte for byte; undefined for those that are. */
  rewrites?(part: Part): string | undefined
  readonly order: 'row' | 'column' | 'both'
  /** The entries of `Tensor.extra` that the format stores, whatever their origin. */
  readonly keeps?: readonly string[]
  /** The keys that the format adds to those of the model. */
  addedKeys?(keys: readonly string[]): readonly string[]
  /** What the format stores in its own order: by name, or as the function says. */
  readonly sorts?: {
    readonly tensors?: true | ((tensors: readonly Tensor[]) => readonly Tensor[])
    readonly metadata?: true
  }
  /** The order that foreign models are written in; a model made for the format keeps its own. Absent: all keep theirs. */
  arranges?(tensors: readonly Tensor[]): readonly Tensor[]
  /** Whether a tensor is a weight. Others, such as numbers that a graph computes with, keep their type when weights are cast. Absent: all are. */
  isWeight?(tensor: Tensor): boolean
  /** Whether quantization parameters beside a tensor (`Tensor.quant`) can be stored. */
  readonly quant?: boolean
  /** Names can be any bytes (`Tensor.rawName`), not only text. */
  readonly rawNames?: true
  /** Tensors have a path of names, each of any bytes, and statistics belong to a parameter. */
  readonly paths?: true
  /** Shapes can have more than 2^53-1 elements, for tensors without data. */
  readonly hugeShapes?: true
  readonly shards: boolean
  /** Tensors with the same payload, as an object or as a range of a source, are stored once. */
  readonly sharesPayloads?: true
  /** Companion files can be written beside the output, if that is a directory of its own; `layout` then includes them. */
  readonly folder?: true
  /**
   * The format's readers take weights and a vocabulary, and there is no place for anything else. Whatever says nothing about these may be
   * dropped without permission, but not without mention.
   */
  readonly weightsOnly?: true
  /** The maximum number of tensors in one output. Absent: unlimited. */
  readonly maxTensors?: number
  /**
   * The orientation of linear weights that the format's readers expect; `as-is` accepts both. Absent: the format does not care, so models
   * that state their orientation are written as [out, in], like in nearly every other program.
   */
  readonly orientation?: Orientation | 'as-is'
  /** Remarks about a file that holds this model, although nothing of it is lost. */
  notes?(model: Model): readonly string[]
}

export interface Capabilities {
  /** What the format's own checksums cover. */
  readonly checksums: 'none' | 'index' | 'all'
  /**
   * Nothing in a file marks its end: one that is cut between two records after the weights is a valid file with fewer records, or with fewer
   * `tensors` where these come last.
   */
  readonly openEnded?: true | 'tensors'
  /** The version and variant that are written unless a model or an option says otherwise. */
  readonly defaults?: { readonly version?: string; readonly variant?: string }
  /**
   * Files hold tensors and texts in an order that follows from them, and nothing of their own. Conversions from or to such a format need
   * not note the model's origin.
   */
  readonly plain?: true
  /** Whatever version or variant tensors come from, they are written in the same one. Of tensors alone nobody needs to note the origin. */
  readonly writesOneForm?: true
  /**
   * Whose words published models in this format are written in: those of the hub, with a configuration and a tokenizer beside the weights,
   * or those of ggml.
   */
  readonly conventions?: 'hub' | 'ggml'
  /** Models are published with companion files in the same directory: a configuration, a tokenizer. Opening the directory opens these, too. */
  readonly companions?: true
  /** Metadata keys that the format's specification requires of every model. */
  readonly requiredKeys?: readonly string[]
  /** Absent: the format cannot be written, or only from certain models. */
  readonly write?: WriteCapabilities
  /** The same for one model, set of options and output name, if the answers depend on them. */
  writeFor?(model: Model, extra: OptionValues, name?: string): WriteCapabilities
}

/** A flag of one format; the command line and its help are generated from these. */
export interface FormatOption {
  /** kebab-case, without dashes: `page-hashes` is `--page-hashes`. The value arrives under this name. */
  readonly name: string
  /** The placeholder of the value in help (`SIZE`, `sectioned|stream`); in brackets if it is optional. Absent for a switch. */
  readonly argument?: string
  readonly description: string
  /** How the value is parsed: as text, as an integer, as a size such as 64K. Default: text. */
  readonly kind?: 'text' | 'integer' | 'size'
  readonly choices?: readonly string[]
  /** A random uuid unless it is given, where the output is not deterministic. */
  readonly isRandom?: true
}

/** Values of format options, by name. */
export type OptionValues = Readonly<Record<string, string | number | boolean | undefined>>

/** The result of `repair` for a damaged file. */
export interface Repair {
  /** The repaired file(s). */
  readonly layout: Layout
  readonly repaired: readonly string[]
  readonly lost: readonly string[]
}

/** The result of reading a file. */
export interface Opened {
  readonly model: Model
  /** Checks that need the payloads: checksums, page hashes, values. Absent if there is nothing to check. */
  check?(context: CheckContext): Promise<void>
}

/** The operations on files of a format. */
export interface Implementation {
  /** Reads the index only. Reports every problem of the structure. */
  read(source: ByteSource, context: ReadContext): Promise<Opened>
  /** For formats that hash parts of a file: reads that verify exactly the bytes they read. */
  readonly verifiedPayload?: VerifiedPayload
  /** The file(s) to write. Capabilities were asked before, so the model fits. */
  layout?(model: Model, options: WriteOptions): Promise<Layout>
  /**
   * The edited model as a file whose weights stay where they are in the model's only file; undefined if there is no room for that. `edited`
   * has the same tensors, with the same payloads, perhaps under other names.
   */
  editInPlace?(model: Model, edited: Model, options: WriteOptions): Promise<FileLayout | undefined>
  /**
   * For formats whose files contain more than a model can be written from: the model's main file with other metadata and tensor names, and
   * everything else unchanged. `edited` has the same tensors in the same order; new entries are texts.
   */
  editFile?(model: Model, edited: Model, options: WriteOptions): Promise<FileLayout>
  /** Validates a part of this format that was stowed as plain data; undefined if it is invalid. */
  restorePart?(part: Part): Promise<Part | undefined> | Part | undefined
  /** Rebuilds what can be rebuilt from a file with known damage; undefined if there is nothing it can do. */
  repair?(source: ByteSource, context: ReadContext, options: WriteOptions): Promise<Repair | undefined>
}

/** A format: facts, which are always loaded, and the implementation, which is loaded when a file needs it. */
export interface Format<Id extends string = string, Codes extends Readonly<Record<string, Code>> = CodeTable> {
  readonly id: Id
  /** The display name. */
  readonly title: string
  /** With the dot, lower case, the most common first; the first is used for output names. */
  readonly extensions: readonly string[]
  readonly capabilities: Capabilities
  readonly codes: Codes
  /** Examines the first bytes (at most 64 KiB, or the whole file) and the name. `maybe` wins only if no format says `yes`. */
  detect(head: Uint8Array, name: string, size: number): 'yes' | 'maybe' | 'no'
  /**
   * The file names under which models in this format are published, that of a single file first. A directory may hold one model in several
   * formats; then the format that comes first in the list of formats wins.
   */
  readonly published?: readonly string[]
  /** The file to open in a directory that holds one model; undefined if none of the names belongs to this format. */
  mainFile?(names: readonly string[]): string | undefined
  /** What can be repaired or saved in damaged files of this format, for help and docs. Absent: nothing. */
  readonly repairs?: string
  /** Flags of this format for converting and for verifying. */
  readonly options?: { readonly write?: readonly FormatOption[]; readonly check?: readonly FormatOption[] }
  /** Loads the code that reads and writes the format. */
  load(): Promise<Implementation>
}

/** Whether any model can be written in this format; some can be written only from certain models, as `writeFor` says. */
export const isWritable = ({ capabilities }: Format): boolean => capabilities.write !== undefined
