import type { OptionsOf } from '../../flags/flag.js'
import { input, output, overwrite } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const repair = defineVerb({
  name: 'repair',
  summary: 'rebuild what can be rebuilt of a damaged file into a new one, and say what was lost',
  description:
    'Puts right what the format can rebuild. Otherwise, above all for files that were cut off, every tensor that is whole goes into a new file of the same format, and those that are not are listed with their sizes. Formats that cannot be written need the name of an output that can, such as saved.safetensors.',
  arguments: [input],
  saysRepairs: true,
  flags: { output: output('the repaired file; the damaged one is not changed'), overwrite },
  no: 'nothing could be repaired',
  examples: [
    ['tare repair broken.aero -o repaired.aero', 'exit status 1 when nothing could be done'],
    ['tare repair half-a-download.gguf -o saved.gguf', 'the tensors that are whole, and a list of the others'],
  ],
})

export type RepairOptions = OptionsOf<typeof repair.flags>
