// The classes of the transformers library that read tokenizers: which one reads a directory, what it takes for the special tokens that no
// file states, and which of them it puts around a text.
import type { TokenizerFiles } from './files.js'

export interface LibraryClass {
  /** The special tokens where no file states them, in the library's order. */
  readonly specials: Readonly<Record<string, string>>
  /** Tokens that it always has besides. */
  readonly more?: readonly string[]
  /** Special tokens are marked as such, even where tokenizer.json says otherwise. */
  readonly marks?: true
  /** It puts its own tokens around a text, whatever tokenizer.json says. */
  readonly ends?: { readonly bos: boolean; readonly defaults: readonly [bos: string, eos: string] }
}

const pieces = { bos: '<s>', eos: '</s>', unk: '<unk>' }
const roberta = { ...pieces, sep: '</s>', pad: '<pad>', cls: '<s>', mask: '<mask>' }
const bert = { unk: '[UNK]', sep: '[SEP]', pad: '[PAD]', cls: '[CLS]', mask: '[MASK]' }
const endOfText = { bos: '<|endoftext|>', eos: '<|endoftext|>', unk: '<|endoftext|>' }

const classes: Readonly<Record<string, LibraryClass>> = {
  Llama: { specials: pieces, ends: { bos: true, defaults: ['<s>', '</s>'] } },
  CodeLlama: {
    specials: pieces,
    more: ['▁<PRE>', '▁<MID>', '▁<SUF>', '▁<EOT>'],
    ends: { bos: true, defaults: ['<s>', '</s>'] },
  },
  Cohere: {
    specials: { bos: '<BOS_TOKEN>', eos: '<|END_OF_TURN_TOKEN|>', unk: '<UNK>' },
    ends: { bos: true, defaults: ['<BOS_TOKEN>', '<|END_OF_TURN_TOKEN|>'] },
  },
  Gemma: {
    specials: { bos: '<bos>', eos: '<eos>', unk: '<unk>', pad: '<pad>' },
    ends: { bos: true, defaults: ['<bos>', '<eos>'] },
  },
  GPTNeoX: { specials: endOfText, ends: { bos: false, defaults: ['<|endoftext|>', '<|endoftext|>'] } },
  GPT2: { specials: endOfText },
  CodeGen: { specials: endOfText },
  Qwen2: { specials: { eos: '<|endoftext|>', unk: '<|endoftext|>', pad: '<|endoftext|>' }, marks: true },
  Bloom: { specials: { ...pieces, pad: '<pad>' } },
  Bert: { specials: bert },
  DistilBert: { specials: bert },
  Electra: { specials: bert },
  Roberta: { specials: roberta },
  XLMRoberta: { specials: roberta },
  MPNet: { specials: { ...roberta, unk: '[UNK]' } },
}

/** Which class reads the tokenizer of a model of this type, where no file names one. */
const classOfType: Readonly<Record<string, string>> = {
  ...named(
    'Llama',
    'llama',
    'mistral',
    'mixtral',
    'mistral3',
    'phi3',
    'phimoe',
    'deepseek_v2',
    'deepseek_v3',
    'llama4',
  ),
  ...named('Llama', 'llama4_text', 'arcee', 'ernie4_5', 'ernie4_5_moe', 'jamba'),
  ...named('Qwen2', 'qwen2', 'qwen2_moe', 'qwen3', 'qwen3_moe', 'qwen2_vl', 'qwen2_5_vl', 'qwen3_vl', 'qwen3_vl_moe'),
  ...named('Gemma', 'gemma', 'gemma2', 'gemma3', 'gemma3_text', 'gemma3n', 'gemma3n_text'),
  ...named('Cohere', 'cohere', 'cohere2'),
  ...named('GPTNeoX', 'gpt_neox', 'stablelm', 'olmo', 'olmo2', 'olmoe', 'mpt', 'mamba', 'mamba2', 'falcon_mamba'),
  ...named('GPT2', 'gpt2', 'gpt_bigcode', 'starcoder2', 'granite', 'granitemoe', 'granitemoeshared'),
  ...named('GPT2', 'granitemoehybrid', 'olmo3', 'exaone4', 'dbrx'),
  ...named('CodeGen', 'phi'),
  ...named('Bloom', 'bloom'),
  ...named('Bert', 'bert'),
  ...named('DistilBert', 'distilbert'),
  ...named('Roberta', 'roberta'),
  ...named('XLMRoberta', 'xlm-roberta'),
}

function named(name: string, ...types: readonly string[]): Record<string, string> {
  return Object.fromEntries(types.map((type) => [type, name]))
}

const plain: LibraryClass = { specials: {} }

export function libraryClass({ tokenizerConfig, raw }: TokenizerFiles): LibraryClass {
  const stated = tokenizerConfig?.tokenizer_class ?? raw.tokenizer_class
  const type = String(raw.model_type)
  const name =
    typeof stated === 'string'
      ? stated.replace(/Tokenizer(Fast)?$/, '')
      : Object.hasOwn(classOfType, type)
        ? classOfType[type]!
        : ''
  return Object.hasOwn(classes, name) ? classes[name]! : plain
}
