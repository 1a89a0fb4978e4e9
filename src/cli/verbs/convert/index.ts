import type { OptionsOf } from '../../flags/flag.js'
import { parsePositive, parseSize } from '../../flags/parse-values.js'
import { quantizeFlags } from '../../flags/quantize.js'
import {
  allowDamage,
  allowLoss,
  dryRun,
  output,
  overwrite,
  resume,
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
  summary: 'convert any format to any other, streaming; what would be lost is named first',
  arguments: [
    {
      name: '<input...>',
      description:
        'files, directories, addresses (http, s3, gs, hf), or - for standard input; several inputs need a directory as output',
    },
  ],
  flags: {
    output: output('the output: a file, a directory (DIR/), or - for standard output'),
    to,
    dryRun,
    allowLoss: allowLoss(
      'allow the conversion to lose something: none, precision or all (--allow-loss alone means all)',
    ),
    cast: { value: '<dtype>', description: 'store floating point weights as this element type, such as f16' },
    dequantize: {
      group: 'Quantizing',
      value: '[glob]',
      description:
        'store the values of quantized tensors instead of their codes, as f32 or what --cast says; --dequantize=GLOB limits it to some tensors',
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
    rename: {
      group: 'Tensors',
      value: '<s/a/b/>',
      description: 'change tensor names: replace what matches the regular expression A by B',
      repeat: true,
    },
    renameMap: {
      group: 'Tensors',
      value: '<file>',
      description: 'change the names of single tensors: a JSON or YAML file, {"old": "new"}',
    },
    merge: {
      group: 'Tensors',
      value: '<input>',
      description: 'merge this model, of any format, into the input; what both have must be equal',
      repeat: true,
    },
    prefer: {
      group: 'Tensors',
      value: '<side>',
      description: 'with --merge: which model wins where two differ, first or last',
      choices: ['first', 'last'],
    },
    graph: {
      group: 'Tensors',
      value: '<file>',
      description:
        'put the weights into the graph of this ONNX model, by their names; --rename turns them into those of the graph',
    },
    set,
    unset,
    vocab: {
      group: 'Metadata and files',
      value: '<file>',
      description: 'add this vocabulary: a text file with one token per line',
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
      negated:
        'drop what the format cannot hold, instead of keeping it in the metadata; also restore nothing from there',
    },
    asIs: {
      group: 'Tensors',
      description:
        'copy names and weights as they are, instead of translating between a model directory and what llama.cpp runs',
    },
    pre: {
      group: 'Tensors',
      value: '<name>',
      description: "llama.cpp's name for the way the tokenizer splits text, where it is not recognised",
    },
    keepBytes: {
      group: 'Tensors',
      description: 'where the element order differs, reverse the dimensions instead of moving elements',
    },
    keepOrientation: { group: 'Tensors', description: 'do not transpose linear weights' },
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
      description: 'align tensors to multiples of this, where the format allows a choice',
      parse: parsePositive,
    },
    receipt: {
      group: 'Output',
      value: '<file>',
      description: 'also write a JSON receipt: what was done to each tensor, with digests before and after',
    },
    key: {
      group: 'Output',
      value: '<file>',
      description: 'with --receipt: sign it with this private key (PEM), as an in-toto statement',
    },
    certificate: { group: 'Output', value: '<file>', description: 'with --key: the certificate of the key (PEM)' },
    chain: {
      group: 'Output',
      value: '<file>',
      description: 'with --certificate: certificates between it and the root',
      repeat: true,
    },
    deterministic: { group: 'Output', description: 'the same input gives the same bytes: no random ids, no times' },
    allowDamage,
    overwrite,
    resume,
    workers: {
      group: 'Output',
      value: '<queue>',
      description: 'have the workers of this queue make the output, such as nats://host:4222 (tare worker serves it)',
    },
    threads,
  },
  formatOptions: 'write',
  no: 'something would be lost that --allow-loss does not allow, or the input is damaged',
  examples: [
    ['tare convert model.safetensors -o model.gguf --cast f16', 'into another container, in half precision'],
    [
      'tare convert big.gguf -o out.safetensors --shard-size 2GB --dry-run',
      'see the plan, its size and its losses first',
    ],
    [
      'tare convert base.safetensors --merge head.gguf --rename-map names.yaml -o whole.safetensors',
      'merge two models and rename tensors; tensors that both have must be equal',
    ],
    [
      'tare convert tuned.safetensors --graph model.onnx -o tuned.onnx',
      'the graph of model.onnx with the weights of another model; the tensors must have the same names',
    ],
    ['tare convert adam.optimizer -o adam.json', 'the settings of an optimizer as JSON; it goes back the same way'],
    ['tare convert model.mcf -o model/', 'a directory as hubs publish it: weights, configuration, tokenizer'],
    [
      'tare convert /shared/model.safetensors -o /shared/model.gguf --quantize q4_k --workers nats://host:4222',
      'made by all machines that run `tare worker nats://host:4222`',
    ],
    [
      'tare convert model-Q8_0.gguf -o model/ --cast bf16 --shard-size 5GB',
      'a file for llama.cpp back into a model directory, in shards',
    ],
  ],
})

export type ConvertOptions = OptionsOf<typeof convert.flags>
