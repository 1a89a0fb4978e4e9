// An architecture, as data: what its models are called, which settings become metadata, and what becomes of each tensor. The tables in
// `architectures` are all that is needed for another one, unless it stores weights in a way that no transform knows yet.

/** A configuration: what config.json says, completed by what it leaves out. */
export type Config = Readonly<Record<string, unknown>>

type Value = string | number | boolean | null | Config
type Follows = (config: Config) => unknown

/**
 * A value, or how it follows from the others. Where it follows, `null` in a file stands for it as well. A pair is what stands for a setting
 * that is missing, and what for one that is `null`.
 */
export type Default = Value | Follows | readonly [missing: Value, ofNull: Follows]

/** What the tables of an architecture can ask about the model at hand. */
export interface Facts {
  readonly config: Config
  /** RoPE settings, wherever the configuration keeps them. */
  readonly rope: Config
  /** The pooling of a sentence embedder, by its number in GGUF. */
  readonly pooling?: number | undefined
  /** The file type as GGUF counts them; 0 is f32. */
  readonly fileType: number
  /** The number of layers. */
  readonly layers: number
}

/** One entry of the metadata. A rule without a value writes nothing. */
export interface KeyRule {
  /** Under the name of the architecture, unless it begins with `general.`, `tokenizer.`, `diffusion.` or `xielu.`. */
  readonly key: string
  readonly type: 'u32' | 'f32' | 'bool' | 'str' | 'bools' | 'i32s' | 'f32s' | 'strs'
  /** The setting that is copied: the first of these that is present, even if it is null. */
  readonly from?: readonly string[]
  readonly value?: (facts: Facts) => unknown
  /** The settings that a value stands for, on the way back; without it, the setting that is copied. Sees those that are known so far. */
  readonly back?: (value: unknown, config: Config) => Config
  /** The settings that stand for an entry that is not there, where the defaults would make one. */
  readonly absent?: Config | ((config: Config) => Config)
  /** The conversion fails without a value. */
  readonly required?: true
}

/** What becomes of a tensor's elements. Each is defined, both ways, in `transforms`. */
export type TransformName =
  | 'permute-heads'
  | 'permute-kv-heads'
  | 'rotated-halves'
  | 'rotated-kv-halves'
  | 'plus-one'
  | 'transpose'
  | 'regroup-qkv'
  | 'regroup-grouped-qkv'
  | 'split-halves'
  | 'split-alternate'
  | 'transpose-split-alternate'
  | 'transpose-split-halves'
  | 'transpose-last'
  | 'split-kv-b'
  | 'split-qkv'
  | 'split-grouped-qkv'
  | 'vocabulary-rows'
  | 'skip-padding-positions'
  | 'zero-bias'
  | 'squeeze'
  | 'minus-exp'
  | 'minus-exp-column'
  | 'column'
  | 'norm-groups'
  | 'expert-rows'
  | 'expert-rows-transposed'
  | 'split-joined-qkv'
  | 'split-qkvz'
  | 'pad-vocabulary'
  | 'tile-heads'
  | 'tile-columns'
  | 'tile-values'
  | 'squeeze-tile-values'
  | 'minus-exp-tile-heads'

export interface TensorRule {
  /** Where a tensor is taken apart, there are several names. */
  readonly to: string | readonly string[]
  readonly by?: TransformName
  /** Tensors of one layer that differ in `{e}` only become one, with the experts as a new first dimension. */
  readonly stack?: true
  /** How many there are for each of the experts that the configuration counts, if not one. */
  readonly experts?: number
  /** How many there are, where that is not the number of experts; `{e}` is then the only number of the name. */
  readonly count?: number
  /** What all elements are multiplied by, one factor after the other; the rows of a matrix can have their own. Models that come back have done so. */
  readonly factors?: (config: Config, shape: readonly number[]) => readonly (number | RowFactors)[]
}

/** A factor for some of the rows of a matrix. */
export interface RowFactors {
  readonly from: number
  readonly to: number
  readonly factor: number
}

/**
 * Names in the directory, and what becomes of them. `{n}` is the layer, `{e}` the expert. `.weight` and `.bias` are carried over, unless the
 * name is listed in full. `drop` is a tensor that no program needs.
 */
export type NameTable = Readonly<Record<string, string | TensorRule>>

/** Which tokenizers a family reads, in the order in which they are looked for. */
export type TokenizerChoice =
  | 'llama'
  | 'sentencepiece-or-bpe'
  | 'sentencepiece'
  | 'sentencepiece-with-prefix'
  | 'internlm-2'
  | 'internlm-3'
  | 'gemma-1'
  | 'gemma-2'
  | 'gemma-3'
  | 'phi-3'
  | 'bpe'
  | 'plain-bpe'
  | 'gemma-4'
  | 'solar'
  | 'glm'
  | 'hunyuan'
  | 'wordpiece'
  | 'bpe-or-wordpiece'
  | 'xlm-roberta'
  | 'nomic'
  | 'jina-2'
  | 't5'
  | 'glm-moe'
  | 'chatglm'
  | 'mamba'
  | 'mamba-2'
  | 'jamba'

export interface Family {
  /** What GGUF calls it: `general.architecture`. */
  readonly architecture: string
  /** What the configuration calls it: `architectures`. The first is written when a GGUF file becomes a directory. */
  readonly classes: readonly string[]
  /** Where families share classes: whether a model with this configuration is of this one. */
  readonly isMeant?: (config: Config) => boolean
  /** Tensors of GGUF that only models of one of the classes have. */
  readonly tells?: Readonly<Record<string, RegExp>>
  /** The way of splitting text that only its models have, where others share the architecture. */
  readonly tellingPre?: string
  /** The entry that only its models have, likewise. */
  readonly tellingKey?: string
  /** On the way back, names and settings of models that have a certain tensor. */
  readonly others?: { readonly where: RegExp; readonly names?: NameTable; readonly settings: Config }
  /** For each `model_type`, what the configuration need not say. */
  readonly configs: Readonly<Record<string, Readonly<Record<string, Default>>>>
  /** How many layers there are, where that is not what the settings of that name say. */
  readonly layers?: (config: Config) => number
  /** Settings that are not what the file says. */
  readonly settle?: (config: Config) => Config
  /** The same on the way back: what the file has to say for settings to come out as these. */
  readonly unsettle?: (config: Config) => Config
  /** Names of settings that the file has, where the defaults do not tell. */
  readonly settings?: readonly string[]
  readonly keys: readonly KeyRule[]
  readonly tensors: NameTable
  /** Layers that predict further tokens have to be there. */
  readonly needsFurtherLayers?: true
  /** Removed from the beginning of names, or put in front of names that do not have it. */
  readonly prefix?: {
    readonly remove?: readonly string[]
    readonly add?: Readonly<Record<string, string>>
    /** What published names begin with, on the way back; the output layer is outside of it. */
    readonly back?: string
  }
  /** Tensors that hold the same: the first that is there counts, under the name that comes first here. */
  readonly sameTensors?: readonly string[]
  /** Changes of names that published checkpoints have. */
  readonly respell?: readonly (readonly [pattern: RegExp, replacement: string])[]
  /** Names that depend on the configuration. */
  readonly named?: (name: string, config: Config) => string
  /** Tensors that are left out, beyond those that every family leaves out. */
  readonly drops?: readonly RegExp[]
  /** The same for models of one class. */
  readonly classDrops?: Readonly<Record<string, readonly RegExp[]>>
  /** Tensors that are computed from the configuration. */
  readonly computed?:
    | 'rope-freqs'
    | 'rope-factors'
    | 'proportional-rope-freqs'
    | 'head-rope-factors'
    | 'compressed-rope-factors'
  /** Layers beyond the last predict several tokens at once, and are left out. */
  readonly dropsExtraLayers?: true
  /** An output layer that is tied to the embedding is left out, although the checkpoint has it. */
  readonly dropsTiedOutput?: true
  /** Routers have the type that was asked for, like other weights. */
  readonly castsRouters?: true
  /** The same for layers that predict further tokens. */
  readonly castsFurtherRouters?: true
  /** What the names of layers begin with in GGUF; default `blk.`. */
  readonly blocks?: readonly string[]
  /** An output layer with the elements of the embedding is left out. */
  readonly dropsEqualOutput?: true
  /** The experts are stored as MXFP4 and stay so. */
  readonly mxfp4?: true
  readonly tokenizer: TokenizerChoice
  /** Entries about the tokenizer that every model of the family has, before all others or after them, without `tokenizer.ggml.`. */
  readonly tokenizerEntries?: {
    readonly before?: Readonly<Record<string, boolean | number>>
    readonly after?: Readonly<Record<string, boolean | number>>
  }
  /** Tensors that layers need not have although others have them. */
  readonly mayLack?: RegExp
}
