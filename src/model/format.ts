// What a format is. Everything outside a format's folder works through this contract and asks capabilities, never ids.
import type { ByteSource, ExtentRecorder, OpenHint } from '../bytes/index.js'
import type { CodeTable, Report } from '../errors/index.js'
import type { RunThreads, WorkerPool } from '../threads/index.js'
import type { FileLayout, Layout } from './layout.js'
import type { MetaValue } from './metadata.js'
import type { Model, ModelNames, Part } from './model.js'
import type { Orientation } from './orientation.js'
import type { Tensor } from './tensor.js'
import type { VerifiedPayload } from './verified.js'

/** What stops a parser from taking memory or time that no honest file needs. All can be raised by the caller. */
export interface Limits {
  /** The most bytes of index (header, tables, metadata) that are read into memory. */
  readonly indexBytes: number
  /** The most levels of nested metadata. */
  readonly depth: number
  /** How many times the bytes that are stored the tensors may take that are made of them, where one byte can stand for many. */
  readonly expansion: number
}

export const defaultLimits: Limits = { indexBytes: 1 << 30, depth: 128, expansion: 16 }

/** A tensor, or something else, that a damaged file no longer has in full. */
export interface Lost {
  readonly subject: 'tensor' | 'metadata' | 'part'
  /** Absent where not even the name is there any more. */
  readonly name?: string | undefined
  /** The bytes that it would take, where the file says so. */
  readonly length?: number | undefined
  readonly reason: string
}

export interface ReadContext {
  readonly report: Report
  readonly extents?: ExtentRecorder | undefined
  readonly signal?: AbortSignal | undefined
  readonly limits: Limits
  /** Accept what the format's own readers accept beyond the document, with a warning. */
  readonly lenient: boolean
  /**
   * Opens what an index names outside its own directory: an address, or a path relative to the index, which is `from`. Absent: such
   * names are refused.
   */
  readonly openElsewhere?: ((location: string, from: ByteSource, hint?: OpenHint) => Promise<ByteSource>) | undefined
  /**
   * Present when everything that is whole is to be saved from a damaged file: the reader goes on as far as it can, also where it would
   * otherwise give up, and tells about what it leaves out.
   */
  readonly onLost?: ((lost: Lost) => void) | undefined
}

export interface CheckContext extends ReadContext {
  /** Values of the options that the format declares for checking. */
  readonly extra: OptionValues
  /** Only what covers the bytes of these tensors is compared; absent: everything. */
  readonly only?: ReadonlySet<string> | undefined
  /** Counts bytes that a check has looked at. */
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
  /** What the model is called and of which architecture it is, as far as it says so anywhere. Absent: as its metadata says. */
  readonly names?: (() => Promise<ModelNames>) | undefined
  /** Nothing is taken over as it is stored, also where nothing has changed: something about the file is wrong. */
  readonly rewrite?: boolean | undefined
  /** The file that the format's reference program would make by quantizing the model, byte for byte. */
  readonly likeReference?: boolean | undefined
  /** Values of the options that the target format declares. */
  readonly extra?: OptionValues | undefined
  readonly signal?: AbortSignal | undefined
  /** The threads that there are when the layout is written. */
  readonly threads?: RunThreads | undefined
}

/** A statement of the target about one thing that it is asked to hold. `as` is absent when it fits as it is. */
export interface Fit<T> {
  readonly fits: boolean
  readonly reason?: string
  readonly as?: T
  /** What is lost. Absent: content where it does not fit, and form where it does so in another way that does not come back by itself. */
  readonly loss?: 'none' | 'form' | 'precision' | 'content'
}

/** What a format can hold, as answers to questions. Conversion is planned from these alone. */
export interface WriteCapabilities {
  /** Whether the element type has a place here; where not, the reason. */
  tensor(tensor: Tensor): Fit<Tensor>
  metadata(key: string, value: MetaValue): Fit<MetaValue>
  part(part: Part): Fit<Part>
  readonly order: 'row' | 'column' | 'both'
  /** The entries of `Tensor.extra` that the format stores, whoever they come from. */
  readonly keeps?: readonly string[]
  /** The keys that the format's own rules put beside those that the model has. */
  addedKeys?(keys: readonly string[]): readonly string[]
  /** What the format puts into an order of its own: by name, or as the function says. */
  readonly sorts?: {
    readonly tensors?: true | ((tensors: readonly Tensor[]) => readonly Tensor[])
    readonly metadata?: true
  }
  /** The order that models from elsewhere are put into; a model that was made for the format keeps its own. Absent: all keep theirs. */
  arranges?(tensors: readonly Tensor[]): readonly Tensor[]
  /** Whether quantization parameters beside a tensor (`Tensor.quant`) have a place. */
  readonly quant?: boolean
  /** Names can be any bytes (`Tensor.rawName`), not only text. */
  readonly rawNames?: true
  /** Tensors have a path of names, each of any bytes, and statistics belong to a parameter. */
  readonly paths?: true
  /** Shapes can have more than 2^53-1 elements, for tensors that have no data. */
  readonly hugeShapes?: true
  readonly shards: boolean
  /** Tensors with the same payload, as an object or as a range of a source, are stored once. */
  readonly sharesPayloads?: true
  /** Files that belong to the model can lie beside the output, where that is a directory of its own; `layout` then puts them there. */
  readonly folder?: true
  /**
   * The format's readers take weights and a vocabulary, and there is no place for anything else. What says nothing about these may stay
   * behind without anybody's leave, though not without a word.
   */
  readonly weightsOnly?: true
  /** How many tensors one output can hold; absent: any number. */
  readonly maxTensors?: number
  /**
   * How the format's readers want linear weights to lie; `as-is` takes them as they are. Absent: the format does not care, so models
   * that state their orientation are written as [out, in], the way of nearly every other program.
   */
  readonly orientation?: Orientation | 'as-is'
  /** What is worth knowing about a file that holds this model, although nothing of it is lost. */
  notes?(model: Model): readonly string[]
}

export interface Capabilities {
  /** How much the format's own checksums cover. */
  readonly checksums: 'none' | 'index' | 'all'
  /** Nothing in a file says where it ends: one that is cut between two records behind the weights is a whole file with fewer records. */
  readonly openEnded?: true
  /** The version and variant that are written unless a model or an option says otherwise. */
  readonly defaults?: { readonly version?: string; readonly variant?: string }
  /**
   * Files hold tensors and texts in an order that follows from them, and nothing of their own. Conversions from or to such a format need not
   * note what the model was made for.
   */
  readonly plain?: true
  /** Metadata keys that the format's document requires of every model. */
  readonly requiredKeys?: readonly string[]
  /** Absent: the format cannot be written, or only from certain models. */
  readonly write?: WriteCapabilities
  /** The same for one model, one set of options and one name of the output, where the answers depend on them. */
  writeFor?(model: Model, extra: OptionValues, name?: string): WriteCapabilities
}

/** A flag that only one format knows; the command line and its help are made from these. */
export interface FormatOption {
  /** kebab-case, without dashes: `page-hashes` is `--page-hashes`. The value arrives under this name. */
  readonly name: string
  /** How the value is called in help (`SIZE`, `sectioned|stream`); in brackets when it may be left out. Absent for a switch. */
  readonly argument?: string
  readonly description: string
  /** How the value is read: as it is, as a whole number, as a size such as 64K. Default: as it is. */
  readonly kind?: 'text' | 'integer' | 'size'
  readonly choices?: readonly string[]
}

/** Values of format options, by name. */
export type OptionValues = Readonly<Record<string, string | number | boolean | undefined>>

/** What `repair` can do about a damaged file. */
export interface Repair {
  /** The repaired file(s). */
  readonly layout: Layout
  readonly repaired: readonly string[]
  readonly lost: readonly string[]
}

/** What reading a file gives. */
export interface Opened {
  readonly model: Model
  /** Checks that need the payloads: checksums, page hashes, values. Absent where there is nothing to check. */
  check?(context: CheckContext): Promise<void>
}

/** What can be done with files of a format. */
export interface Implementation {
  /** Reads the index only. Reports everything that is wrong with the structure. */
  read(source: ByteSource, context: ReadContext): Promise<Opened>
  /** Where hashes cover parts of a file: reads that compare exactly what they read. */
  readonly verifiedPayload?: VerifiedPayload
  /** The file(s) to write. The model fits: capabilities were asked before. */
  layout?(model: Model, options: WriteOptions): Promise<Layout>
  /**
   * The edited model as a file in which the weights lie where they lie in the model's only file; undefined when its layout leaves no room
   * for that. `edited` has the same tensors, with the same payloads, perhaps under other names.
   */
  editInPlace?(model: Model, edited: Model, options: WriteOptions): Promise<FileLayout | undefined>
  /**
   * For formats whose files hold more than a model can be written from: the model's main file with other metadata and other names of tensors,
   * and everything else as it is. `edited` has the same tensors in the same order; entries that are new are texts.
   */
  editFile?(model: Model, edited: Model, options: WriteOptions): Promise<FileLayout>
  /** A part of this format that travelled as plain data, checked; undefined when it is not what it should be. */
  restorePart?(part: Part): Promise<Part | undefined> | Part | undefined
  /** Rebuilds what can be rebuilt from a file with known damage; undefined when there is nothing it can do. */
  repair?(source: ByteSource, context: ReadContext, options: WriteOptions): Promise<Repair | undefined>
}

/** A format: the facts about it, which are always loaded, and its implementation, which is loaded when a file needs it. */
export interface Format {
  readonly id: string
  /** What people call it. */
  readonly title: string
  /** With the dot, lower case, the most common first; the first one is used for output names. */
  readonly extensions: readonly string[]
  readonly capabilities: Capabilities
  readonly codes: CodeTable
  /** Looks at the first bytes (64 KiB at most, or the whole file) and the name. `maybe` wins only when no format says `yes`. */
  detect(head: Uint8Array, name: string, size: number): 'yes' | 'maybe' | 'no'
  /**
   * The names under which models in this format are published, the one of a single file first. A directory may hold one model in the forms
   * of several formats; then the format that comes first in the list of formats is taken.
   */
  readonly published?: readonly string[]
  /** In a directory of one model, the file to open; undefined when none of the names is this format's. */
  mainFile?(names: readonly string[]): string | undefined
  /** What can be repaired or saved of damaged files of this format, for help and docs. Absent: nothing. */
  readonly repairs?: string
  /** Flags of this format for converting and for verifying. */
  readonly options?: { readonly write?: readonly FormatOption[]; readonly check?: readonly FormatOption[] }
  load(): Promise<Implementation>
}

/** Whether any model can be written in this format; some can be written only from certain models, which `writeFor` tells. */
export const isWritable = ({ capabilities }: Format): boolean => capabilities.write !== undefined
