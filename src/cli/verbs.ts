// The one table of verbs and their options. The parser, `--help` and the documentation are made from it.
import type { Context } from './context.js'
import type { OptionRow } from './option-row.js'
import {
  parseAssignment,
  parseCount,
  parseHeader,
  parseOffset,
  parsePositive,
  parseSize,
  parseTolerance,
} from './parse-values.js'
import { quantizeOptions } from './quantize-flags.js'
import type { Status } from './status.js'

export type Act = (
  context: Context,
  words: readonly string[],
  options: Readonly<Record<string, unknown>>,
) => Promise<Status>

export interface Verb {
  readonly name: string
  readonly summary: string
  readonly description?: string
  readonly arguments: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly OptionRow[]
  /** Which flags of the formats belong to this verb. */
  readonly formatOptions?: 'write' | 'check'
  /** Help says what each format can mend. */
  readonly saysMends?: true
  readonly examples: readonly (readonly [line: string, what: string])[]
  load(): Promise<{ readonly default: Act }>
}

const inputs = { name: '<input...>', description: 'files, directories, http addresses, or - for standard input' }
const input = { name: '<input>', description: 'a file, directory or http address, or - for standard input' }
const tensors: OptionRow = {
  flags: '--tensors <glob>',
  description: 'only tensors whose name matches, such as "blk.*.weight"',
  repeat: true,
}

const textArguments = [
  { name: '<model>', description: input.description },
  { name: '[text...]', description: 'texts; put -- before those that begin with a dash' },
]
const texts: OptionRow = {
  flags: '--file <file>',
  description: 'one text per line of this file, or - for standard input',
}
const vocab: OptionRow = {
  flags: '--vocab <file>',
  description: 'take the vocabulary from this text file, one token per line',
}
const cased: OptionRow = {
  flags: '--cased',
  description: 'the model tells capital letters and accents apart (original profile only)',
}

const threads: OptionRow = {
  flags: '--threads <n>',
  description: 'how many cores large work may use (all of them)',
  parse: parsePositive,
}

export const commonOptions: readonly OptionRow[] = [
  { flags: '--json', description: 'one JSON object per input and line, and nothing else on standard output' },
  { flags: '--from <id>', description: 'the format of the input, instead of finding it from the bytes' },
  { flags: '--lenient', description: "accept what the format's own readers accept beyond its document" },
  {
    flags: '--header <name: value>',
    description: 'send this with requests to the origin of an http address',
    repeat: true,
    parse: parseHeader,
  },
  { flags: '--no-cache', description: 'keep nothing of http addresses on disk' },
  { flags: '-q, --quiet', description: 'no progress and no remarks' },
]

export const verbs: readonly Verb[] = [
  {
    name: 'inspect',
    summary: 'show what is inside: header, metadata, parts and tensors',
    arguments: [inputs],
    options: [
      tensors,
      { flags: '--tree', description: 'group tensors by the parts of their names, with subtotals' },
      { flags: '--metadata', description: 'metadata only' },
      { flags: '--limit <n>', description: 'show at most this many rows (on a terminal 100)', parse: parseCount },
      {
        flags: '--sort <key>',
        description: 'order of the tensors: size, name or offset',
        choices: ['size', 'name', 'offset'],
      },
      { flags: '--stats', description: 'read the values too and add minimum, maximum, mean and deviation' },
    ],
    examples: [
      ['tare inspect model.safetensors', 'what it is, its metadata and a table of its tensors'],
      ['tare inspect --tree --limit 40 model.gguf', 'the same by layer, with sizes added up'],
      ['tare inspect --json --tensors "*.bias" model.gguf', 'only the biases, for a program'],
    ],
    load: () => import('./inspect.js'),
  },
  {
    name: 'verify',
    summary: 'run every check that the format has and report all findings',
    description:
      'Checks structure, ranges, names and every checksum that the format stores. Each finding has a code, a byte offset and the path of the field.',
    arguments: [inputs],
    options: [
      { flags: '--quick', description: 'structure only: do not read the weights' },
      { flags: '--strict', description: 'treat warnings as errors' },
      {
        flags: '--profile <name>',
        description: 'the tensors and metadata of a known model must be there, such as all-MiniLM-L6-v2',
      },
      { flags: '--receipt <file>', description: 'the model must be what this receipt of convert says it wrote' },
      {
        flags: '--source <input>',
        description:
          'with --receipt: this must be what it was made from, and nothing lost that the receipt does not name',
      },
      threads,
    ],
    formatOptions: 'check',
    examples: [
      ['tare verify model.safetensors', 'exit status 0 when nothing is wrong, 1 when there are errors'],
      ['tare verify --json --quick models/*.gguf', 'one line of JSON per file, without reading the weights'],
      [
        'tare verify --receipt model.receipt.json --source model.safetensors model.gguf',
        'whether both files are still those of the conversion, and the receipt tells the truth',
      ],
    ],
    load: () => import('./verify.js'),
  },
  {
    name: 'hash',
    summary: 'digest of each tensor and a fingerprint that does not depend on the container',
    arguments: [inputs],
    options: [
      {
        flags: '--algorithm <name>',
        description: 'blake3 (default), sha256 or crc32',
        choices: ['blake3', 'sha256', 'crc32'],
      },
      {
        flags: '--decoded',
        description: 'digest the values as little-endian f32 in row-major order, not the stored bytes',
      },
      { flags: '--check <file>', description: 'compare with the output of an earlier run, text or JSON' },
      threads,
    ],
    examples: [
      ['tare hash model.safetensors > model.hash', 'keep the digests of all tensors'],
      ['tare hash --check model.hash model.gguf', 'see which tensors differ from them; exit status 1 if any does'],
    ],
    load: () => import('./hash.js'),
  },
  {
    name: 'map',
    summary: 'account for every byte of the file: offset, length, field and value',
    arguments: [inputs],
    options: [
      {
        flags: '--depth <n>',
        description: 'join fields that share the first N parts of their path',
        parse: parsePositive,
      },
      { flags: '--hex', description: 'show the first bytes of each field' },
      { flags: '--at <offset>', description: 'only what lies at this byte (456 or 0x1c8)', parse: parseOffset },
    ],
    examples: [
      ['tare map --depth 2 model.gguf', 'the file as a list of regions'],
      ['tare map --at 0x1c8 --hex model.oinf', 'the field at one offset, with its bytes'],
    ],
    load: () => import('./map.js'),
  },
  {
    name: 'stats',
    summary: 'minimum, maximum, mean, median, deviation, special values and histogram per tensor',
    arguments: [inputs],
    options: [
      tensors,
      { flags: '--bins <n>', description: 'how many bars the histogram has', parse: parsePositive },
      { flags: '--exact', description: 'the exact median, for which the values are read again' },
      threads,
    ],
    examples: [['tare stats --tensors "*.norm.*" model.safetensors', 'one row per tensor, with a small histogram']],
    load: () => import('./stats.js'),
  },
  {
    name: 'show',
    summary: 'the model as text, with previews, statistics and histograms',
    arguments: [inputs],
    options: [tensors, threads],
    examples: [['tare show model.oinf | less', 'the whole model to read through']],
    load: () => import('./show.js'),
  },
  {
    name: 'extract',
    summary: 'one tensor out, as it is stored or decoded; or a vocabulary or other part',
    arguments: [input, { name: '[tensor]', description: 'the name of the tensor' }],
    options: [
      {
        flags: '-o, --output <file>',
        description: 'where to: FILE.npy, FILE.bin for the bare bytes, or - for standard output',
      },
      { flags: '--as <dtype>', description: 'convert the values to this element type, such as f32' },
      { flags: '--slice <ranges>', description: 'a part of it, such as "0:10,:"' },
      { flags: '--part <name>', description: 'not a tensor, but this part: vocabulary, a file name, …' },
      { flags: '--no-overwrite', description: 'fail when the output is there already' },
    ],
    examples: [
      ['tare extract model.gguf token_embd.weight --as f32 -o embd.npy', 'decode a quantized tensor for NumPy'],
      [
        'tare extract model.safetensors lm_head.weight --slice "0:10,:" -o - | xxd | head',
        'the stored bytes of the first ten rows',
      ],
      [
        'tare extract model.weights --part vocabulary -o vocab.txt',
        'the tokens, one per line, in the order of their ids',
      ],
    ],
    load: () => import('./extract.js'),
  },
  {
    name: 'convert',
    summary: 'any format to any other, streaming; what would be lost is named first',
    arguments: [{ name: '<input...>', description: 'files or directories, or -; several need a directory as output' }],
    options: [
      { flags: '-o, --output <file>', description: 'the output: a file, a directory (DIR/), or - for standard output' },
      { flags: '--to <id>', description: 'the format of the output, instead of taking it from its name' },
      { flags: '--dry-run', description: 'show the plan and write nothing' },
      {
        flags: '--allow-loss [level]',
        description: 'go on although something is lost: none, precision or all (which is meant when left out)',
        choices: ['none', 'precision', 'all'],
        bare: 'all',
      },
      { flags: '--cast <dtype>', description: 'store floating point weights as this element type, such as F16' },
      {
        flags: '--dequantize [glob]',
        description:
          'store the values of quantized tensors instead of their codes, as f32 or what --cast says; only of some with --dequantize=GLOB',
        repeat: true,
        bare: '*',
      },
      {
        flags: '--quantize <method>',
        description: 'quantize large matrices of floats: q8, q4, k6, k4, k3, k2, int8 or int4',
      },
      ...quantizeOptions,
      { flags: '--only <glob>', description: 'only these tensors', repeat: true },
      { flags: '--exclude <glob>', description: 'all but these tensors', repeat: true },
      { flags: '--rename <s/a/b/>', description: 'change tensor names', repeat: true },
      {
        flags: '--rename-map <file>',
        description: 'change the names of single tensors: a JSON or YAML file, {"old": "new"}',
      },
      {
        flags: '--merge <input>',
        description: 'join this model, in whatever format, with the input; what both have must be the same',
        repeat: true,
      },
      {
        flags: '--prefer <side>',
        description: 'with --merge: whose tensor, metadata entry or part counts where two differ, first or last',
        choices: ['first', 'last'],
      },
      {
        flags: '--set <key=value>',
        description: 'set a metadata entry; one that is there keeps its type',
        repeat: true,
        parse: parseAssignment,
      },
      { flags: '--unset <key>', description: 'remove a metadata entry', repeat: true },
      { flags: '--vocab <file>', description: 'put in this vocabulary: a text file with one token per line' },
      {
        flags: '--stats [file]',
        description:
          'attach the optimizer state of this model, or of the input itself: tensors called weight#statistic',
      },
      { flags: '--no-stats', description: 'leave out what an optimizer keeps beside the weights' },
      { flags: '--no-files', description: 'leave out the files that belong to the model: configuration, tokenizer, …' },
      { flags: '--without <part>', description: 'leave out this part, by its name or kind', repeat: true },
      {
        flags: '--no-stow',
        description:
          'drop what the format has no place for, instead of carrying it in the metadata; restore nothing either',
      },
      {
        flags: '--keep-bytes',
        description: 'for another order of elements, reverse the dimensions over the same bytes',
      },
      { flags: '--keep-orientation', description: 'leave linear weights the way round that they have' },
      {
        flags: '--dedup',
        description: 'store tensors with the same type, shape and bytes only once, where the format can',
      },
      {
        flags: '--shard-size <size>',
        description: 'split the output into files of at most this size, such as 2GB',
        parse: parseSize,
      },
      {
        flags: '--align <bytes>',
        description: 'where the format leaves it open, start tensors at multiples of this',
        parse: parsePositive,
      },
      {
        flags: '--receipt <file>',
        description: 'also write what became of each tensor, with digests of before and after, as JSON',
      },
      { flags: '--deterministic', description: 'the same input gives the same bytes: no random ids, no times' },
      { flags: '--no-overwrite', description: 'fail when the output is there already' },
      threads,
    ],
    formatOptions: 'write',
    examples: [
      ['tare convert model.safetensors -o model.gguf --cast F16', 'into another container, in half precision'],
      [
        'tare convert big.gguf -o out.safetensors --shard-size 2GB --dry-run',
        'see the plan, its size and its losses first',
      ],
      [
        'tare convert base.safetensors --merge head.gguf --rename-map names.yaml -o whole.safetensors',
        'two models in one, with other names; tensors that both have must be the same',
      ],
      ['tare convert adam.optimizer -o adam.json', 'the settings of an optimizer as JSON; it goes back the same way'],
      ['tare convert model.mcf -o model/', 'a directory as hubs publish it: weights, configuration, tokenizer'],
    ],
    load: () => import('./convert.js'),
  },
  {
    name: 'diff',
    summary: 'compare two models, in whatever formats: tensors, values, metadata and parts',
    description:
      'Lists only what differs, the gravest first. Exit status 0 when the models are equal, 1 when they are not. Without --tolerance element types count too; with it, only values do.',
    arguments: [
      { name: '<a>', description: input.description },
      { name: '<b>', description: 'what to compare it with' },
    ],
    options: [
      {
        flags: '--tolerance <number>',
        description:
          'accept elements that are this close: |a-b| <= abs + rel * max(|a|,|b|), given as 1e-5 for both or as abs=1e-6,rel=1e-3',
        parse: parseTolerance,
      },
      {
        flags: '--metric <name>',
        description:
          'sort by this measure and let --tolerance be about it: max-abs, max-rel, rmse and differing must not be above, snr and cosine not below',
        choices: ['max-abs', 'max-rel', 'rmse', 'snr', 'cosine', 'differing'],
      },
      { flags: '--names-only', description: 'only the names of the tensors that differ; values are not measured' },
      {
        flags: '--tensors <glob>',
        description: 'only tensors whose name matches, and neither metadata nor parts',
        repeat: true,
      },
      {
        flags: '--limit <n>',
        description: 'show at most this many rows of each kind (on a terminal 100)',
        parse: parseCount,
      },
      threads,
    ],
    examples: [
      ['tare diff base.safetensors tuned.safetensors', 'which tensors differ, where, and by how much'],
      ['tare diff --tolerance 1e-3 model.safetensors model-f16.gguf', 'whether values survived a conversion'],
      [
        'tare diff --metric snr --tolerance 30 --tensors "*" model.safetensors model-q8.gguf',
        'whether every quantized tensor keeps 30 dB, whatever became of the metadata',
      ],
    ],
    load: () => import('./diff.js'),
  },
  {
    name: 'pack',
    summary: 'build a container from a description and data files',
    description:
      'The description names size variables, metadata and tensors; data stand in it or in .npy, .npz and raw files beside it. It is JSON, YAML, or a module that exports it, which is run. Types follow from the values where they are not given; a value that does not fit its type is refused.',
    arguments: [
      { name: '<description>', description: 'FILE.json, FILE.yaml, MODULE.mjs#NAME, or - for JSON on standard input' },
    ],
    options: [
      { flags: '-o, --output <file>', description: 'the output: a file, or - for standard output' },
      { flags: '--to <id>', description: 'the format of the output, instead of taking it from its name' },
      {
        flags: '--json [file]',
        description:
          'with a file: JSON that fills the fields of the description by name; alone: one JSON object on standard output',
      },
      { flags: '--data <file>', description: 'the same as --json with a file; can be YAML' },
      {
        flags: '--root <directory>',
        description: 'where data files are, and what they may not lead out of (default: the folder of the description)',
      },
      { flags: '--dry-run', description: 'show the plan and write nothing' },
      {
        flags: '--allow-loss [level]',
        description: 'go on although the format cannot hold everything: none, precision or all (meant when left out)',
        choices: ['none', 'precision', 'all'],
        bare: 'all',
      },
      { flags: '--no-overwrite', description: 'fail when the output is there already' },
    ],
    formatOptions: 'write',
    examples: [
      ['tare pack mlp.yaml -o mlp.oinf', 'what the description says, in the format that the name says'],
      ['tare pack ./mlp.mjs#MlpRegression --json data.json -o mlp.oinf', 'a module, its fields filled from JSON'],
    ],
    load: () => import('./pack.js'),
  },
  {
    name: 'quantize',
    summary: 'convert with a quantization method per tensor, and report what it costs',
    description:
      'Large matrices of floats are quantized; norms, biases and small tensors stay as they are. Methods: q8, q4, k6, k4, k3, k2, int8, int4.',
    arguments: [input],
    options: [
      { flags: '-o, --output <file>', description: 'the output, such as model.mcf' },
      { flags: '--to <id>', description: 'the format of the output, instead of taking it from its name' },
      { flags: '--method <name>', description: 'the method for everything that is quantized (k4 when left out)' },
      ...quantizeOptions,
      { flags: '--only <glob>', description: 'only these tensors', repeat: true },
      { flags: '--exclude <glob>', description: 'all but these tensors', repeat: true },
      { flags: '--no-files', description: 'leave out the files that belong to the model: configuration, tokenizer, …' },
      { flags: '--without <part>', description: 'leave out this part, by its name or kind', repeat: true },
      { flags: '--report', description: 'read the result back and print its error per tensor' },
      { flags: '--dry-run', description: 'show methods and sizes, and write nothing' },
      { flags: '--no-overwrite', description: 'fail when the output is there already' },
      threads,
    ],
    formatOptions: 'write',
    examples: [
      [
        'tare quantize model.safetensors -o model.mcf --method k4 --report',
        'bits per weight, RMSE, SNR and cosine per tensor',
      ],
      [
        "tare quantize model.safetensors -o model.mcf --tensor-method '*embed*=q8' --dry-run",
        'the sizes, before anything is written',
      ],
    ],
    load: () => import('./quantize.js'),
  },
  {
    name: 'edit',
    summary: 'change metadata and tensor names, without rewriting the weights where the format leaves room',
    description:
      'Entries keep the type that they have. Says whether the file was changed where it is or written anew; either way the old file or the new one is there, whatever happens.',
    arguments: [input],
    options: [
      { flags: '--set <key=value>', description: 'set a metadata entry', repeat: true, parse: parseAssignment },
      { flags: '--unset <key>', description: 'remove a metadata entry', repeat: true },
      {
        flags: '--rename-tensor <old=new>',
        description: 'give a tensor another name; all at once, so that two can be swapped',
        repeat: true,
        parse: parseAssignment,
      },
      { flags: '-o, --output <file>', description: 'write the edited model here, and leave the input as it is' },
      { flags: '--dry-run', description: 'show what would be changed and how, and write nothing' },
      { flags: '--rewrite', description: 'write the file anew, even where it could be changed in place' },
      {
        flags: '--header-slack <size>',
        description: 'when the file is written anew, leave this much room for later edits (safetensors, GGUF)',
        parse: parseSize,
      },
      { flags: '--no-overwrite', description: 'with -o: fail when the output is there already' },
    ],
    examples: [
      ['tare edit model.gguf --set general.name="My model"', 'a metadata entry; says whether in place or anew'],
      ['tare edit model.safetensors --rename-tensor lm_head.weight=head.weight --dry-run', 'what it would take'],
      ['tare edit model.safetensors --unset notes -o clean.safetensors', 'into another file'],
    ],
    load: () => import('./edit.js'),
  },
  {
    name: 'repair',
    summary: 'rebuild what can be rebuilt of a damaged file into a new one, and say what was lost',
    description:
      'Puts right what the format knows how to mend. Otherwise, above all for files that were cut off, every tensor that is whole goes into a new file of the same format, and those that are not are listed with their sizes. Formats that cannot be written need the name of an output that can, such as saved.safetensors.',
    arguments: [input],
    saysMends: true,
    options: [
      { flags: '-o, --output <file>', description: 'the mended file; the damaged one is never touched' },
      { flags: '--no-overwrite', description: 'fail when the output is there already' },
    ],
    examples: [
      ['tare repair broken.aero -o mended.aero', 'exit status 1 when nothing could be done'],
      ['tare repair half-a-download.gguf -o saved.gguf', 'the tensors that are whole, and a list of the others'],
    ],
    load: () => import('./repair.js'),
  },
  {
    name: 'tokenize',
    summary: 'cut texts into the tokens of the vocabulary that a model carries',
    arguments: textArguments,
    options: [
      texts,
      {
        flags: '--profile <name>',
        description: 'original (or bert): as BERT does, the default; reference: byte by byte, as the EMBD library does',
        choices: ['original', 'bert', 'reference'],
      },
      {
        flags: '--max-length <n>',
        description: 'the most tokens of a text; the reference profile fills up to it (256)',
        parse: parsePositive,
      },
      vocab,
      cased,
    ],
    examples: [
      ['tare tokenize model.weights "unaffable dogs"', 'the tokens and their ids'],
      ['tare tokenize --json --file texts.txt model.weights', 'one JSON object for each line of a file'],
    ],
    load: () => import('./tokenize.js'),
  },
  {
    name: 'embed',
    summary: 'sentence embeddings, computed with the encoder that a model carries',
    description:
      'Takes any container with the tensors of a BERT encoder, and the vocabulary from it or from vocab.txt beside it. Needs the package onnxruntime-node.',
    arguments: textArguments,
    options: [
      texts,
      { flags: '--similarity', description: 'compare all texts with each other: the cosine of their vectors' },
      {
        flags: '--profile <name>',
        description:
          'original: as the model is defined, the default; reference: what the EMBD library computes, padding included',
        choices: ['original', 'reference'],
      },
      {
        flags: '--max-length <n>',
        description: 'the most tokens of a text; in the reference profile also the fewest (256)',
        parse: parsePositive,
      },
      {
        flags: '--heads <n>',
        description: 'attention heads, where neither metadata nor config.json say how many',
        parse: parsePositive,
      },
      vocab,
      cased,
      { flags: '--no-normalize', description: 'leave the vectors as long as they are' },
      { flags: '--threads <n>', description: 'compute with this many threads', parse: parsePositive },
    ],
    examples: [
      ['tare embed model.weights "a text" "another text" --similarity', 'how like the texts are'],
      ['tare embed --json --file texts.txt model.weights > vectors.ndjson', 'one vector for each line of a file'],
    ],
    load: () => import('./embed.js'),
  },
]
