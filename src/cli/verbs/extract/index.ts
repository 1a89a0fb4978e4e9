import type { OptionsOf } from '../../flags/flag.js'
import { allowDamage, input, output, overwrite } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const extract = defineVerb({
  name: 'extract',
  summary: 'write out one tensor, as stored or decoded, or another part such as the vocabulary',
  arguments: [input, { name: '[tensor]', description: 'the name of the tensor; not needed where there is only one' }],
  flags: {
    output: output('the output: FILE.npy, FILE.bin for raw bytes, or - for standard output'),
    as: { value: '<dtype>', description: 'convert the values to this element type, such as f32' },
    slice: { value: '<ranges>', description: 'a part of it, such as "0:10,:"' },
    part: { value: '<name>', description: 'extract this part instead of a tensor: vocabulary, a file name, …' },
    allowDamage,
    overwrite,
  },
  no: 'the input is damaged',
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
})

export type ExtractOptions = OptionsOf<typeof extract.flags>
