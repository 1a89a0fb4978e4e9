import type { OptionsOf } from '../../flags/flag.js'
import { input, output, overwrite } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const repair = defineVerb({
  name: 'repair',
  summary: 'rebuild as much as possible of a damaged file in a new one, and list what was lost',
  description:
    'Fixes what the format can rebuild. Otherwise, mostly for files that were cut off, writes every complete tensor to a new file of the same format and lists the others with their sizes. If the format cannot be written, give an output of another format, such as saved.safetensors.',
  arguments: [input],
  saysRepairs: true,
  flags: { output: output('the repaired file; the damaged one is not changed'), overwrite },
  no: 'nothing could be repaired',
  examples: [
    ['tare repair broken.aero -o repaired.aero', 'exit status 1 if nothing could be repaired'],
    ['tare repair half-a-download.gguf -o saved.gguf', 'the complete tensors, and a list of the others'],
  ],
})

export type RepairOptions = OptionsOf<typeof repair.flags>
