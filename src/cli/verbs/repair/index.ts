import { input, noOverwrite } from '../../flags/shared.js'
import type { Verb } from '../verb.js'

export const repair: Verb = {
  name: 'repair',
  summary: 'rebuild what can be rebuilt of a damaged file into a new one, and say what was lost',
  description:
    'Puts right what the format can rebuild. Otherwise, above all for files that were cut off, every tensor that is whole goes into a new file of the same format, and those that are not are listed with their sizes. Formats that cannot be written need the name of an output that can, such as saved.safetensors.',
  arguments: [input],
  saysRepairs: true,
  options: [
    { flags: '-o, --output <file>', description: 'the repaired file; the damaged one is never touched' },
    noOverwrite,
  ],
  examples: [
    ['tare repair broken.aero -o repaired.aero', 'exit status 1 when nothing could be done'],
    ['tare repair half-a-download.gguf -o saved.gguf', 'the tensors that are whole, and a list of the others'],
  ],
  load: () => import('./run.js'),
}
