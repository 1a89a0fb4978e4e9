import type { OptionsOf } from '../../flags/flag.js'
import { parsePositive, parseSize } from '../../flags/parse-values.js'
import { quantizeFlags } from '../../flags/quantize.js'
import {
  allowDamage,
  allowLoss,
  dryRun,
  output,
  overwrite,
  selectParts,
  selectTensors,
  set,
  threads,
  to,
  unset,
} from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const convert = defineVerb({
  name: 'convert',
  summary: 'any format to any other, streaming; what would be lost is named first',
  arguments: [{ name: '<input...>', description: 'files or directories, or -; several need a directory as output' }],
  flags: {
    output: output('the output: a file, a directory (DIR/), or - for standard output'),
    to,
    dryRun,
    allowLoss: allowLoss('go on although something is lost: none, precision or all (which is meant when left out)'),
    cast: { value: '<dtype>', description: 'store floating point weights as this element type, such as F16' },
    dequantize: {
      group: 'Quantizing',
      value: '[glob]',
      description:
        'store the values of quantized tensors instead of their codes, as f32 or what --cast says; only of some with --dequantize=GLOB',
      repeat: true,
      bare: '*',
    },
    quantize: {
      group: 'Quantizing',
      value: '<method>',
      description:
        "quantize large matrices of floats: q8, q4, k6, k4, k3, k2, int8 or int4 for MCF, ggml's q8_0, q4_k and so on for GGUF and AERO",
    },
    ...quantizeFlags,
    ...selectTensors,
    rename: { group: 'Tensors', value: '<s/a/b/>', description: 'change tensor names', repeat: true },
    renameMap: {
      group: 'Tensors',
      value: '<file>',
      description: 'change the names of single tensors: a JSON or YAML file, {"old": "new"}',
    },
    merge: {
      group: 'Tensors',
      value: '<input>',
      description: 'join this model, in whatever format, with the input; what both have must be the same',
      repeat: true,
    },
    prefer: {
      group: 'Tensors',
      value: '<side>',
      description: 'with --merge: whose tensor, metadata entry or part counts where two differ, first or last',
      choices: ['first', 'last'],
    },
    set,
    unset,
    vocab: {
      group: 'Metadata and files',
      value: '<file>',
      description: 'put in this vocabulary: a text file with one token per line',
    },
    stats: {
      group: 'Tensors',
      value: '[file]',
      description: 'attach the optimizer state of this model, or of the input itself: tensors called weight#statistic',
      negated: 'leave out what an optimizer keeps beside the weights',
    },
    ...selectParts,
    stow: {
      group: 'Metadata and files',
      negated: 'drop what the format has no place for, instead of carrying it in the metadata; restore nothing either',
    },
    asIs: {
      group: 'Tensors',
      description:
        'copy names and weights as they are, instead of translating a model directory into what llama.cpp runs',
    },
    pre: {
      group: 'Tensors',
      value: '<name>',
      description: "llama.cpp's name for the way the tokenizer splits text, where it is not recognised",
    },
    keepBytes: {
      group: 'Tensors',
      description: 'for another order of elements, reverse the dimensions over the same bytes',
    },
    keepOrientation: { group: 'Tensors', description: 'leave linear weights the way round that they have' },
    dedup: {
      group: 'Tensors',
      description: 'store tensors with the same type, shape and bytes only once, where the format can',
    },
    shardSize: {
      group: 'Output',
      value: '<size>',
      description: 'split the output into files of at most this size, such as 2GB',
      parse: parseSize,
    },
    align: {
      group: 'Output',
      value: '<bytes>',
      description: 'where the format leaves it open, start tensors at multiples of this',
      parse: parsePositive,
    },
    receipt: {
      group: 'Output',
      value: '<file>',
      description: 'also write what became of each tensor, with digests of before and after, as JSON',
    },
    deterministic: { group: 'Output', description: 'the same input gives the same bytes: no random ids, no times' },
    allowDamage,
    overwrite,
    threads,
  },
  formatOptions: 'write',
  no: 'something would be lost that --allow-loss does not allow, or the input is damaged',
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
})

export type ConvertOptions = OptionsOf<typeof convert.flags>
