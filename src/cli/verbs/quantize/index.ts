import type { OptionsOf } from '../../flags/flag.js'
import { parseBits, parseSize } from '../../flags/parse-values.js'
import { quantizeFlags } from '../../flags/quantize.js'
import {
  allowDamage,
  input,
  output,
  overwrite,
  resume,
  selectParts,
  selectTensors,
  set,
  tableFlags,
  threads,
  to,
  unset,
} from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const quantize = defineVerb({
  name: 'quantize',
  summary: 'convert with a quantization method per tensor, and report what that costs',
  description:
    "Large matrices of floats are quantized; norms, biases and small tensors stay as they are. Methods for MCF: q8, q4, k6, k4, k3, k2, int8, int4. For GGUF models with an architecture, the mixes of llama-quantize: q4_k_m, q4_k_s, q5_k_m, q5_k_s, q3_k_l, q3_k_m, q3_k_s, q2_k, q2_k_s, q6_k, q8_0, iq4_xs, iq3_m, iq2_m, mxfp4_moe and so on; --pure for one type. For GGUF and AERO, ggml's types: q8_0, q6_k, q5_k, q5_1, q5_0, q4_k, q4_1, q4_0, q3_k, q2_k, iq4_nl, iq4_xs, iq3_s, iq3_xxs, iq2_s, iq2_xs, iq2_xxs, iq1_m, iq1_s, mxfp4, nvfp4, tq2_0, tq1_0, q2_0, q1_0; iq2_xs, iq2_xxs and iq1_s need --imatrix.",
  arguments: [input],
  flags: {
    output: output('the output, such as model.mcf'),
    to,
    method: {
      value: '<name>',
      description:
        'the method for everything that is quantized (default: k4 for MCF, q4_k for others, which is q4_k_m for models of llama.cpp)',
    },
    targetSize: {
      value: '<size>',
      description: 'choose a method for each tensor so that the output has at most this size, such as 4GB',
      parse: parseSize,
    },
    targetBits: {
      value: '<number>',
      description: 'the same with an average of bits per weight, such as 4.25',
      parse: parseBits,
    },
    methods: {
      value: '<file>',
      description:
        'a JSON file with a method for each tensor name, or "keep" to leave it unquantized; see --save-methods',
    },
    saveMethods: {
      value: '<file>',
      description:
        'write the methods of all tensors to this file, to be edited and given as --methods; also with --dry-run',
    },
    ...quantizeFlags,
    ...selectTensors,
    set,
    unset,
    ...selectParts,
    report: { description: 'read the result back and print the error of each tensor' },
    reference: {
      value: '<model>',
      description:
        'like --report, but measure the error against this model, such as the original of a model that is quantized again',
    },
    dryRun: { description: 'show methods and sizes; write nothing' },
    ...tableFlags,
    allowDamage,
    overwrite,
    resume,
    threads,
  },
  formatOptions: 'write',
  no: 'nothing was quantized, something would be lost, or the input is damaged',
  examples: [
    [
      'tare quantize model.safetensors -o model.mcf --method k4 --report',
      'bits per weight, RMSE, SNR and cosine per tensor',
    ],
    [
      "tare quantize model.safetensors -o model.mcf --tensor-method '*embed*=q8' --dry-run",
      'the sizes, before anything is written',
    ],
    ['tare quantize model.gguf -o small.gguf --method q4_k_m', 'the same mix of types as llama-quantize'],
    ['tare quantize model.gguf -o small.gguf --target-size 4GB', 'a method per tensor, chosen by measured errors'],
    [
      'tare quantize model.gguf -o small.gguf --method iq3_s --imatrix imatrix.gguf --report',
      'errors weighted by an importance matrix',
    ],
    [
      'tare quantize model-q8_0.gguf -o small.gguf --method q4_k_m --requantize --reference model-f16.gguf',
      'quantize again, and report the error of both steps together',
    ],
  ],
})

export type QuantizeOptions = OptionsOf<typeof quantize.flags>
