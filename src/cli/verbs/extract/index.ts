import { allowDamage, input, noOverwrite } from '../../flags/shared.js'
import type { Verb } from '../verb.js'

export const extract: Verb = {
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
    allowDamage,
    noOverwrite,
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
  load: () => import('./run.js'),
}
