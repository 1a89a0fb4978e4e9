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
    "Large matrices of floats are quantized; norms, biases and small tensors stay as they are. Methods for MCF: q8, q4, k6, k4, k3, k2, int8, int4. For GGUF and AERO, ggml's types: q8_0, q6_k, q5_k, q5_1, q5_0, q4_k, q4_1, q4_0, q3_k, q2_k, iq4_nl, iq4_xs, iq3_s, iq3_xxs, iq2_s, iq2_xs, iq2_xxs, iq1_m, iq1_s, mxfp4, nvfp4, tq2_0, tq1_0, q2_0, q1_0; iq2_xs, iq2_xxs and iq1_s need --imatrix.",
  arguments: [input],
  flags: {
    output: output('the output, such as model.mcf'),
    to,
    method: {
      value: '<name>',
      description: 'the method for everything that is quantized (default: k4 for MCF, q4_k for others)',
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
    methods: { value: '<file>', description: 'methods by the names of tensors, as JSON; keep for none' },
    saveMethods: { value: '<file>', description: 'write the methods of all tensors to this file, to be edited' },
    ...quantizeFlags,
    ...selectTensors,
    set,
    unset,
    ...selectParts,
    report: { description: 'read the result back and print the error of each tensor' },
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
    ['tare quantize model.safetensors -o model.gguf --method q4_k', 'one of the types of ggml, for llama.cpp'],
    [
      'tare quantize model.gguf -o small.gguf --method iq3_s --imatrix imatrix.gguf --report',
      'columns count as much as an importance matrix says',
    ],
  ],
})

export type QuantizeOptions = OptionsOf<typeof quantize.flags>
